/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins with all slots of a site, see map_room.h. */
#include "mapper/map/map_room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int map_room_create(struct map_room *r, const struct map_problem *p, struct zerr *err)
{
	const struct map_site *s = p->site;

	*r = (struct map_room){.p = p};
	r->free = malloc(s->nnodes * sizeof(*r->free));
	r->limit = malloc(s->nnodes * sizeof(*r->limit));
	if (!r->free || !r->limit)
		return zerr_set(err, -ENOMEM, "not enough memory for %u nodes", s->nnodes);
	for (uint32_t i = 0; i < s->nnodes; i++) {
		r->free[i] = s->nodes[i].slots;
		memcpy(r->limit[i], s->nodes[i].limit, sizeof(r->limit[i]));
	}
	return 0;
}

void map_room_free(struct map_room *r)
{
	free(r->free);
	free(r->limit);
}
