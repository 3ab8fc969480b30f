/* SPDX-License-Identifier: BSD-3-Clause */
/* READY to each neighbour, and when; see ready.h. */
#include "zipcast/ready.h"

#include "zipcast/remote.h"

/* How ready we are for a message, as one member hears it. */
struct readiness {
	struct zwire_env env;
	const uint8_t *key;
	bool all; /* for all blocks, not just for the first one */
};

/* False: there is nothing to tell the member now. A member that can write to the message's memory hears of it when that
 * is there. Before, only the member that sends the first block hears. */
static bool find_readiness(struct member *m, struct readiness *r)
{
	const struct zipcast_group *g = m->group;
	if (g->me == 0)
		return false;
	const bool remote = zremote_is_wanted(m);
	if (!g->message.active && remote) {
		r->all = false;
		r->env.flags = ZWIRE_F_ONE_SIDED;
		r->env.offset = m->opens == OPENS_SINGLE ? 1 : UINT64_MAX;
		return m->opens != OPENS_NONE && m->told != r->env.xfer;
	}
	r->all = true;
	if (m->told == r->env.xfer && m->told_all)
		return false;
	if (g->message.active && remote && m->due > 0 && zremote_expose(m)) {
		r->env.flags = ZWIRE_F_ONE_SIDED;
		r->env.len = ZRMA_KEY_BYTES;
		r->key = m->exposure.key;
	}
	return true;
}

void zready_say(struct zipcast_group *g)
{
	g->untold = false;
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		const struct zwire_env greeting = {.kind = ZWIRE_READY,
			.src = g->zc->me,
			.dst = m->node ? m->node->number : 0,
			.comm = g->number,
			.tag = (int32_t)g->definition,
			.ack = ZWIRE_CAST_VERSION};
		struct readiness r = {.env = greeting};
		r.env.xfer = g->message.number + !g->message.active;
		if (!zgroup_can_tell(m))
			continue;
		const bool is = find_readiness(m, &r);
		if (!is && m->greeted)
			continue;
		if (znode_post(m->node, is ? &r.env : &greeting, r.key) != 0) {
			g->untold = true;
			continue;
		}
		m->greeted = true;
		if (is) {
			m->told = r.env.xfer;
			m->told_all = r.all;
		}
	}
}
