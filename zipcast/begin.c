/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups begin, and fail if a neighbour does not come; see begin.h. */
#include "zipcast/begin.h"

#include <errno.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "zipcast/end.h"
#include "zipcast/hear.h"

int zbegin_group(struct zipcast_group *g)
{
	struct zipcast *zc = g->zc;
	HASH_ADD(hh, zc->groups, number, sizeof(g->number), g);
	for (uint32_t i = 0; i < g->nmembers; i++)
		if (g->member[i].node)
			list_add(&g->member[i].node->memberships, &g->member[i].of_node);
	zgroup_set_deadline(g, zclock_ms() + zc->timeout_ms);
	g->untold = true;
	zhear_strangers(g);
	for (uint32_t i = 0; i < g->nmembers; i++)
		if (g->member[i].node)
			zhear_early(g, &g->member[i]);
	for (uint32_t i = 0; i < g->nmembers && !atomic_load(&g->failed); i++)
		if (g->member[i].node && g->member[i].neighbour && !znode_has_hope(g->member[i].node))
			zend_fail(g, i, g->member[i].node->refused);
	zgroup_set_runnable(g);
	return g->hh.tbl ? 0 : -ENOMEM;
}

void zbegin_look(struct zipcast_group *g, int64_t now_ms)
{
	char why[ZIPCAST_WHY_BYTES];
	for (uint32_t i = 0; i < g->nmembers && !atomic_load(&g->failed); i++) {
		const struct member *m = &g->member[i];
		if (!m->node || !m->neighbour || m->here)
			continue;
		if (now_ms < g->deadline_ms)
			return;
		if (m->node->link.zlink)
			snprintf(why, sizeof(why), "node %u (%.100s) has not made group %u within %d ms",
				m->node->number, m->node->address, g->number, g->zc->timeout_ms);
		else
			snprintf(why, sizeof(why), "node %u (%.100s) has not connected within %d ms", m->node->number,
				m->node->address, g->zc->timeout_ms);
		zend_fail(g, i, why);
		return;
	}
	if (!atomic_load(&g->failed))
		zgroup_set_deadline(g, 0);
}
