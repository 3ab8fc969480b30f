/* SPDX-License-Identifier: BSD-3-Clause */
/* Demands on a map: ranks that need a feature of their node, ranks that belong on a certain node, nodes that get no
 * ranks. */
#ifndef ZIP_MAPPER_MAP_RULES_H
#define ZIP_MAPPER_MAP_RULES_H

#include <stdint.h>

#include "common/base/err.h"
#include "mapper/site/map_site.h"

#define MAP_WISHES_MAX 256

/* Demands as on the command line. The strings are the caller's. */
struct map_wishes {
	const char *need[MAP_WISHES_MAX], *pin[MAP_WISHES_MAX], *forbid[MAP_WISHES_MAX];
	unsigned nneed, npin, nforbid;
};

struct map_rules {
	uint32_t n;
	uint8_t *need; /* [n]: bit f: the rank needs feature f of the site */
	uint32_t *pin; /* [n]: node, or MAP_NONE */
	char *features[MAP_FEATURES_MAX];
	uint32_t nfeatures;
};

/* Reads the demands that need no site, "FEATURE:RANKS". 0, -EINVAL, -ENOMEM. */
int map_rules_create(struct map_rules *, uint32_t ranks, const struct map_wishes *, struct zerr *);
/* Reads the other demands, "RANKS:NODE" and "NODE,NODE". Takes slots from the site's nodes, and checks that all ranks
 * have a place. 0, -EINVAL (no such node), -ENOSPC (with the reason), -ENOMEM. */
int map_rules_apply(struct map_rules *, struct map_site *, const struct map_wishes *, struct zerr *);
/* Makes the same check after slots have changed. Classifies the site anew. 0, -ENOSPC, -E2BIG, -ENOMEM. */
int map_rules_check(const struct map_rules *, struct map_site *, struct zerr *);
/* Leaves out nodes that are slower than necessary. 0, -E2BIG, -ENOMEM. */
int map_rules_hasten(const struct map_rules *, struct map_site *, struct zerr *);
/* May the rank be on a node of the class? Slots are not looked at. */
static inline int map_rules_allow(const struct map_rules *r, const struct map_site *s, uint32_t rank, uint32_t class)
{
	if (r->pin[rank] != MAP_NONE)
		return s->nodes[r->pin[rank]].class == class;
	return !(r->need[rank] & ~s->classes[class].features);
}
void map_rules_free(struct map_rules *);

#endif
