/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the clusters that a job spans, see map_job.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/map/map_job.h"
#include "mapper/site/map_ways.h"
#include "common/hosts/hostfile_find.h"

static bool is_one(uint64_t clusters)
{
	return !(clusters & (clusters - 1));
}

/* Do enough zippers join these clusters, each of them all clusters? */
static bool are_joined(const struct map_site *s, uint64_t clusters)
{
	uint32_t n = 0, least = s->rails ? s->rails : 1;

	for (int at = -1; n < least && (at = zhostfile_find_joining(s->hosts, clusters, at + 1)) >= 0;)
		n++;
	return n == least;
}

/* The clusters among these that the first one has a way to, over any number of zippers. */
static uint64_t hang_together(const struct map_site *s, uint64_t clusters)
{
	uint32_t first = (uint32_t)__builtin_ctzll(clusters);
	uint64_t found = 0;

	for (uint32_t c = 0; c < s->nclusters; c++)
		found |= (uint64_t)(map_ways_hops(s, first, c) < MAP_FAR) << c;
	return found & clusters;
}

static int refuse(const struct map_site *s, uint64_t clusters, const char *why, struct zerr *err)
{
	char names[160] = "", few[96] = "no #ZIP zipper lines join";
	size_t len = 0;

	for (uint32_t c = 0; c < s->nclusters; c++)
		if (clusters >> c & 1 && len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", len ? "," : "",
				s->hosts->clusters[c].name);
	if (s->rails == 1)
		snprintf(few, sizeof(few), "no #ZIP zipper line serves all of");
	else if (s->rails)
		snprintf(few, sizeof(few), "fewer than %u #ZIP zipper lines serve all of", s->rails);
	return zerr_set(err, -ENETUNREACH, "%.128s: %s the clusters %s%s", s->hosts->path, few, names, why);
}

/* Takes the slots of all other clusters away. If there is not room for all ranks then, restores them. */
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

/* Tries clusters that several zippers in a row join. */
static int try_rows(struct map_site *s, const struct map_rules *r, uint64_t all)
{
	int rc = -ENOSPC;

	while (all && !s->rails && rc == -ENOSPC) {
		uint64_t some = hang_together(s, all);

		rc = try_clusters(s, r, some);
		all &= ~some;
	}
	return rc;
}

int map_job_choose(struct map_site *s, const struct map_rules *r, struct zerr *err)
{
	uint64_t all = clusters_with_slots(s);
	int rc = is_one(all) || are_joined(s, all) ? 0 : -ENOSPC;

	for (uint32_t c = 0; c < s->nclusters && rc == -ENOSPC; c++)
		rc = try_clusters(s, r, UINT64_C(1) << c);
	for (int i = 0; i < s->hosts->nzippers && rc == -ENOSPC; i++) {
		uint64_t clusters = zhostfile_find_clusters(s->hosts, i);

		/* no clusters: a zipper between transit fabrics */
		rc = clusters & all && are_joined(s, clusters & all) ? try_clusters(s, r, clusters) : -ENOSPC;
	}
	if (rc == -ENOSPC)
		rc = try_rows(s, r, all);
	if (rc == -ENOSPC)
		return refuse(s, all, ", and none join clusters that have room for all ranks", err);
	if (rc)
		return zerr_set(err, rc, "not enough memory");
	map_ways_join(s, clusters_with_slots(s));
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
	char name[64][ZCTL_NAME_MAX + 1];
	uint64_t clusters = map_job_clusters(l);
	int n = 0, rc;

	*z = (struct map_zippers){0};
	if (is_one(clusters))
		return 0;
	if (s->rails && !are_joined(s, clusters))
		return refuse(s, clusters, "", err);
	for (uint32_t c = 0; c < s->nclusters; c++) {
		if (!(clusters >> c & 1))
			continue;
		z->part[c] = n;
		snprintf(name[n++], sizeof(name[0]), "%s", s->hosts->clusters[c].name);
	}
	rc = zhostways_find(&z->ways, s->hosts, name, n, s->rails ? (int)s->rails : ZCTL_RAILS_MAX, NULL, err);
	z->n = rc ? 0 : (uint32_t)z->ways.nzippers;
	return rc;
}

void map_job_zippers_free(struct map_zippers *z)
{
	zhostways_free(&z->ways);
	z->n = 0;
}

unsigned map_job_zippers_passed(const struct map_zippers *z, uint32_t rail, uint32_t from, uint32_t to)
{
	const struct zhostway *a = zhostways_at(&z->ways, (int)rail, z->part[from]);
	const struct zhostway *b = zhostways_at(&z->ways, (int)rail, z->part[to]);

	return strcmp(a->entry, b->entry) ? (unsigned)(a->n + 1 + b->n) : 0;
}

unsigned map_job_zippers_forwards(const struct map_zippers *z, uint32_t from, uint32_t to)
{
	unsigned least = 0;

	for (uint32_t r = 0; r < z->n; r++) {
		unsigned passed = map_job_zippers_passed(z, r, from, to);

		least = passed && (!least || passed < least) ? passed : least;
	}
	return least;
}
