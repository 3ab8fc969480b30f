/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the fabrics of a hostfile are from each other, see map_site.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "map_site.h"

void map_site_join(struct map_site *s, uint64_t clusters)
{
	bool one = zhostfile_find_joining(s->hosts, clusters, 0) >= 0;

	for (uint32_t a = 0; a < s->nfabrics; a++)
		for (uint32_t b = 0; b < s->nfabrics; b++) {
			bool both = a < s->nclusters && b < s->nclusters && clusters >> a & clusters >> b & 1;

			if (a != b && (one || !both))
				s->hops[a * s->nfabrics + b] = both ? 1 : MAP_FAR;
		}
	for (uint32_t i = 0; i < s->nnodes; i++)
		s->nodes[i].fabrics &= clusters | UINT64_C(1) << s->nodes[i].cluster;
}

uint32_t map_site_find_fabric(const struct map_site *s, const char *name)
{
	uint32_t f = 0;

	while (f < s->nfabrics && strcmp(s->fabric[f], name) != 0)
		f++;
	return f < s->nfabrics ? f : MAP_NONE;
}

/* The names of all fabrics, and of each zipper the fabrics of its ports, one after another. */
static int fabrics_name(struct map_site *s, uint32_t **on)
{
	size_t n = s->nclusters;
	uint32_t at = 0;

	for (int z = 0; z < s->hosts->nzippers; z++)
		n += (size_t)s->hosts->zippers[z].nports;
	s->fabric = calloc(n, sizeof(*s->fabric));
	*on = calloc(n, sizeof(**on));
	if (!s->fabric || !*on)
		return -ENOMEM;
	for (uint32_t c = 0; c < s->nclusters; c++)
		s->fabric[s->nfabrics++] = s->hosts->clusters[c].name;
	for (int z = 0; z < s->hosts->nzippers; z++)
		for (int p = 0; p < s->hosts->zippers[z].nports; p++) {
			const char *name = s->hosts->zippers[z].ports[p].fabric;

			(*on)[at] = map_site_find_fabric(s, name);
			if ((*on)[at] == MAP_NONE) {
				(*on)[at] = s->nfabrics;
				s->fabric[s->nfabrics++] = name;
			}
			at++;
		}
	return 0;
}

/* One step from the fabrics that are so far to the other ones of all zippers there. */
static bool spread(const struct map_site *s, const uint32_t *on, uint8_t *far, uint8_t hops)
{
	bool any = false;

	for (int z = 0; z < s->hosts->nzippers; on += s->hosts->zippers[z++].nports) {
		bool reached = false;

		for (int p = 0; p < s->hosts->zippers[z].nports; p++)
			reached |= far[on[p]] == hops;
		for (int p = 0; reached && p < s->hosts->zippers[z].nports; p++)
			if (far[on[p]] == MAP_FAR) {
				far[on[p]] = (uint8_t)(hops + 1);
				any = true;
			}
	}
	return any;
}

int map_site_find_ways(struct map_site *s, struct zerr *err)
{
	uint32_t *on = NULL;
	int rc = fabrics_name(s, &on);

	if (!rc && !(s->hops = malloc((size_t)s->nfabrics * s->nfabrics)))
		rc = -ENOMEM;
	for (uint32_t from = 0; from < s->nfabrics && !rc; from++) {
		uint8_t *far = s->hops + (size_t)from * s->nfabrics, hops = 0;

		memset(far, MAP_FAR, s->nfabrics);
		far[from] = 0;
		while (hops < MAP_FAR - 1 && spread(s, on, far, hops))
			hops++;
	}
	free(on);
	return rc ? zerr_set(err, rc, "not enough memory") : 0;
}

unsigned map_site_far(const struct map_site *s, uint64_t fabrics_a, uint64_t fabrics_b)
{
	unsigned least = MAP_FAR;

	if (fabrics_a & fabrics_b)
		return 0;
	for (uint64_t a = fabrics_a; a; a &= a - 1)
		for (uint64_t b = fabrics_b; b; b &= b - 1) {
			unsigned hops = map_site_hops(s, (uint32_t)__builtin_ctzll(a), (uint32_t)__builtin_ctzll(b));

			least = hops < least ? hops : least;
		}
	return least;
}
