/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the clusters that a job spans, see map_job.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map_job.h"

static bool is_one(uint64_t clusters)
{
	return !(clusters & (clusters - 1));
}

static int refuse(const struct map_site *s, uint64_t clusters, const char *why, struct zerr *err)
{
	char names[160] = "";
	size_t len = 0;

	for (uint32_t c = 0; c < s->nclusters; c++)
		if (clusters >> c & 1 && len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? "," : "",
				s->hosts->clusters[c].name);
	return zerr_set(err, -ENETUNREACH,
		"%.128s: no #ZIP zipper line serves all of the clusters %s%s, so zmpirun could not "
		"run this (--zippers all predicts it)",
		s->hosts->path, names, why);
}

/* Only these clusters: is there room for all? If so it remains like that. */
static int try_clusters(struct map_site *s, const struct map_rules *r, uint64_t clusters)
{
	uint32_t *slots = malloc(s->nnodes * sizeof(*slots));
	int rc;

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nnodes; i++) {
		slots[i] = s->nodes[i].slots;
		if (!(clusters >> s->nodes[i].cluster & 1))
			s->nodes[i].slots = 0;
	}
	rc = map_rules_check(r, s, NULL);
	for (uint32_t i = 0; i < s->nnodes && rc; i++)
		s->nodes[i].slots = slots[i];
	free(slots);
	return rc;
}

int map_job_choose(struct map_site *s, const struct map_rules *r, struct zerr *err)
{
	uint64_t used = 0;
	int z, rc = -ENOSPC;

	for (uint32_t i = 0; i < s->nnodes; i++)
		used |= (uint64_t)(s->nodes[i].slots > 0) << s->nodes[i].cluster;
	z = zhostfile_find_joining(s->hosts, used, 0);
	if (z < 0 && !is_one(used)) {
		for (uint32_t c = 0; c < s->nclusters && rc == -ENOSPC; c++)
			rc = try_clusters(s, r, UINT64_C(1) << c);
		for (int i = 0; i < s->hosts->nzippers && rc == -ENOSPC; i++) {
			rc = try_clusters(s, r, zhostfile_zipper_clusters(s->hosts, i));
			z = rc ? -1 : i;
		}
		if (rc == -ENOSPC)
			return refuse(s, used, ", and none the clusters that would have room for all ranks", err);
		if (rc)
			return zerr_set(err, rc, "not enough memory");
	}
	map_site_join(s, z);
	return 0;
}

int map_job_zipper(const struct map_site *s, const struct map_layout *l, int *zipper, struct zerr *err)
{
	uint64_t used = 0;

	for (uint32_t v = 0; v < l->n; v++)
		used |= UINT64_C(1) << l->cluster[v];
	*zipper = is_one(used) ? -1 : zhostfile_find_joining(s->hosts, used, 0);
	return *zipper >= 0 || is_one(used) ? 0 : refuse(s, used, "", err);
}
