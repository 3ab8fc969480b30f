/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the ways between the fabrics of a hostfile, see map_ways.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/hostgraph.h"
#include "common/hosts/hostfile_find.h"
#include "mapper/site/map_ways.h"

void map_ways_join(struct map_site *s, uint64_t clusters)
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

uint32_t map_ways_find_fabric(const struct map_site *s, const char *name)
{
	uint32_t f = 0;

	while (f < s->nfabrics && strcmp(s->fabric[f], name) != 0)
		f++;
	return f < s->nfabrics ? f : MAP_NONE;
}

/* Measures the ways over this zipper: from each fabric to the zipper, and on to the fabrics that it is on. */
static void measure(struct map_site *s, struct zhostgraph *g, int zipper)
{
	zhostgraph_measure(g, zipper);
	for (int p = g->first[zipper]; p < g->first[zipper + 1]; p++)
		for (int from = 0; from < g->nfabrics; from++) {
			uint8_t *hops = &s->hops[from * g->nfabrics + g->on[p]];

			if (g->far[from] >= 0 && g->far[from] + 1 < *hops)
				*hops = (uint8_t)(g->far[from] + 1);
		}
}

int map_ways_find(struct map_site *s, struct zerr *err)
{
	struct zhostgraph g;
	int rc = zhostgraph_make(&g, s->hosts, NULL, 0, err);

	s->nfabrics = (uint32_t)g.nfabrics;
	s->fabric = calloc(s->nfabrics + 1, sizeof(*s->fabric));
	s->hops = malloc((size_t)s->nfabrics * s->nfabrics + 1);
	if (!rc && (!s->fabric || !s->hops))
		rc = zerr_set(err, -ENOMEM, "not enough memory");
	if (!rc) {
		memcpy(s->fabric, g.fabric, s->nfabrics * sizeof(*s->fabric));
		memset(s->hops, MAP_FAR, (size_t)s->nfabrics * s->nfabrics);
		memset(g.zipper, true, (size_t)s->hosts->nzippers);
		memset(g.lead, true, s->nfabrics);
		for (int z = 0; z < s->hosts->nzippers; z++)
			measure(s, &g, z);
		for (uint32_t f = 0; f < s->nfabrics; f++)
			s->hops[f * s->nfabrics + f] = 0;
	}
	zhostgraph_free(&g);
	return rc;
}

unsigned map_ways_far(const struct map_site *s, uint64_t fabrics_a, uint64_t fabrics_b)
{
	unsigned least = MAP_FAR;

	if (fabrics_a & fabrics_b)
		return 0;
	for (uint64_t a = fabrics_a; a; a &= a - 1)
		for (uint64_t b = fabrics_b; b; b &= b - 1) {
			unsigned hops = map_ways_hops(s, (uint32_t)__builtin_ctzll(a), (uint32_t)__builtin_ctzll(b));

			least = hops < least ? hops : least;
		}
	return least;
}
