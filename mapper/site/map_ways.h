/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the fabrics of a site are from each other, counted in forwards by zippers. */
#ifndef ZIP_MAPPER_MAP_WAYS_H
#define ZIP_MAPPER_MAP_WAYS_H

#include "mapper/site/map_site.h"

/* For map_site_create: names the fabrics, and finds the hops between them over all zippers, several in a row where that
 * is needed. 0 or -ENOMEM. */
int map_ways_find(struct map_site *, struct zerr *);
/* From now on there is one job, in these clusters: a bridged message is forwarded once if some zipper joins them all,
 * and ports on other networks lead nowhere. The distances between classes change only when the site is classified
 * again.
 */
void map_ways_join(struct map_site *, uint64_t clusters);

/* Zippers between two fabrics: 0 for one and the same, MAP_FAR if nothing joins them. */
static inline uint8_t map_ways_hops(const struct map_site *s, uint32_t from, uint32_t to)
{
	return s->hops[from * s->nfabrics + to];
}
/* The index of a fabric by its name, or MAP_NONE. */
uint32_t map_ways_find_fabric(const struct map_site *, const char *name);
/* Forwards between ranks on nodes with these fabrics. */
unsigned map_ways_far(const struct map_site *, uint64_t fabrics_a, uint64_t fabrics_b);

#endif
