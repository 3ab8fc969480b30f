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

/* Those that carry a job with ranks in these clusters. False: there are none, or too few. */
static bool zippers_find(const struct map_site *s, uint64_t clusters, struct map_zippers *z)
{
	uint32_t most = s->rails ? s->rails : ZCTL_RAILS_MAX;

	z->n = 0;
	for (int at = -1; z->n < most && (at = zhostfile_find_joining(s->hosts, clusters, at + 1)) >= 0;)
		z->zipper[z->n++] = at;
	return z->n > 0 && z->n >= s->rails;
}

static int refuse(const struct map_site *s, uint64_t clusters, const char *why, struct zerr *err)
{
	char names[160] = "", few[64] = "no #ZIP zipper line serves";
	const char *then = "and zipmap plans no job over several in a row";
	size_t len = 0;

	for (uint32_t c = 0; c < s->nclusters; c++)
		if (clusters >> c & 1 && len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? "," : "",
				s->hosts->clusters[c].name);
	if (s->rails > 1) {
		snprintf(few, sizeof(few), "fewer than %u #ZIP zipper lines serve", s->rails);
		then = "so zmpirun could not run this";
	}
	return zerr_set(err, -ENETUNREACH, "%.128s: %s all of the clusters %s%s, %s (--zippers all predicts it)",
		s->hosts->path, few, names, why, then);
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

static uint64_t clusters_with_slots(const struct map_site *s)
{
	uint64_t clusters = 0;

	for (uint32_t i = 0; i < s->nnodes; i++)
		clusters |= (uint64_t)(s->nodes[i].slots > 0) << s->nodes[i].cluster;
	return clusters;
}

int map_job_choose(struct map_site *s, const struct map_rules *r, struct zerr *err)
{
	uint64_t all = clusters_with_slots(s);
	struct map_zippers z;
	int rc = is_one(all) || zippers_find(s, all, &z) ? 0 : -ENOSPC;

	for (uint32_t c = 0; c < s->nclusters && rc == -ENOSPC; c++)
		rc = try_clusters(s, r, UINT64_C(1) << c);
	for (int i = 0; i < s->hosts->nzippers && rc == -ENOSPC; i++) {
		uint64_t clusters = zhostfile_zipper_clusters(s->hosts, i);

		/* none: one between transit fabrics */
		rc = clusters & all && zippers_find(s, clusters & all, &z) ? try_clusters(s, r, clusters) : -ENOSPC;
	}
	if (rc == -ENOSPC)
		return refuse(s, all, ", and none the clusters that would have room for all ranks", err);
	if (rc)
		return zerr_set(err, rc, "not enough memory");
	map_site_join(s, clusters_with_slots(s));
	return 0;
}

uint64_t map_job_clusters(const struct map_layout *l)
{
	uint64_t clusters = 0;

	for (uint32_t v = 0; v < l->n; v++)
		clusters |= UINT64_C(1) << l->cluster[v];
	return clusters;
}

int map_job_zippers(const struct map_site *s, const struct map_layout *l, struct map_zippers *z, struct zerr *err)
{
	uint64_t clusters = map_job_clusters(l);

	z->n = 0;
	return is_one(clusters) || zippers_find(s, clusters, z) ? 0 : refuse(s, clusters, "", err);
}
