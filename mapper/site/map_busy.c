/* SPDX-License-Identifier: BSD-3-Clause */
/* Busy nodes of a site, see map_busy.h. */
#include <errno.h>

#include "mapper/site/map_busy.h"

int map_busy_apply(struct map_site *s, const struct busy *b, struct map_busy *out, struct zerr *err)
{
	bool any = false;

	*out = (struct map_busy){0};
	for (uint32_t i = 0; i < s->nnodes; i++) {
		struct map_node *n = &s->nodes[i];
		bool found;
		uint32_t cores = busy_find(b, n->name, &found), all = n->slots, left;

		any |= found;
		if (!cores)
			continue;
		if (n->hardware != MAP_NONE)
			all = s->machines[n->hardware].hardware.ncores;
		left = cores < all ? all - cores : 0;
		n->slots = left < n->slots ? left : n->slots;
		n->shared = true;
		out->whole += !left;
		out->partly += left > 0;
	}
	return any || !b->names.n
		       ? 0
		       : zerr_set(err, -EINVAL, "%s has none of the %u busy nodes", s->hosts->path, b->names.n);
}
