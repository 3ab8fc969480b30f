/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers: up the tree and down again; see barrier.h. */
#include "zipcast/barrier.h"

#include <stdio.h>
#include <stdlib.h>

#include "zipcast/end.h"

void zbarrier_enter(struct zipcast_group *g, struct entry *e)
{
	if (atomic_load(&g->failed)) {
		free(e);
		return;
	}
	*g->entries_tail = e;
	g->entries_tail = &e->next;
	g->entered++;
	zbarrier_progress(g); /* at once: the application may leave the group in the same turn */
}

void zbarrier_hear(struct zipcast_group *g, struct member *m, const struct zwire_env *env)
{
	const uint64_t next = g->passed + 1;
	char why[ZIPCAST_WHY_BYTES];
	if (m->child && env->xfer == next && m->entered < next) {
		m->entered = next;
	} else if (zgroup_place(m) == g->parent && env->xfer == next && g->told_entered == next) {
		g->all_entered = next;
	} else {
		snprintf(why, sizeof(why), "node %u: its word about a barrier is not due", m->node->number);
		zend_fail(g, zgroup_place(m), why);
	}
	zgroup_set_runnable(g);
}

static void tell(struct member *m, uint64_t barrier)
{
	const struct zipcast_group *g = m->group;
	const struct zwire_env env = {.kind = ZWIRE_READY,
		.flags = ZWIRE_F_SYNC,
		.src = g->zc->me,
		.dst = m->node->number,
		.comm = g->number,
		.tag = (int32_t)g->definition,
		.ack = ZWIRE_CAST_VERSION,
		.xfer = barrier};
	znode_tell(m->node, &env, NULL);
}

/* Has everybody below this member entered it, and this member, too? */
static bool is_entered(const struct zipcast_group *g, uint64_t barrier)
{
	bool all = g->entered >= barrier;
	for (uint32_t i = 0; i < g->nmembers && all; i++)
		all = !g->member[i].child || g->member[i].entered >= barrier;
	return all;
}

static void pass(struct zipcast_group *g)
{
	struct entry *e = g->entries;
	void (*passed)(void *arg) = e->passed;
	g->entries = e->next;
	if (!g->entries)
		g->entries_tail = &g->entries;
	free(e);
	g->passed++;
	for (uint32_t i = 0; i < g->nmembers; i++)
		if (g->member[i].child)
			tell(&g->member[i], g->passed);
	if (passed && !g->destroyer)
		passed(g->events.arg);
}

/* The member that has left, and that the barrier needs; or NULL. */
static const struct member *find_missing(const struct zipcast_group *g, uint64_t barrier)
{
	for (uint32_t i = 0; i < g->nmembers; i++) {
		const struct member *m = &g->member[i];
		if (m->last != UINT64_MAX && (i == g->parent || (m->child && m->entered < barrier)))
			return m;
	}
	return NULL;
}

void zbarrier_progress(struct zipcast_group *g)
{
	char why[ZIPCAST_WHY_BYTES];
	while (g->entered > g->passed && !atomic_load(&g->failed)) {
		const uint64_t next = g->passed + 1;
		if (g->all_entered == next || (g->me == 0 && is_entered(g, next))) {
			pass(g);
			continue;
		}
		const struct member *missing = g->end == UINT64_MAX ? find_missing(g, next) : NULL;
		if (missing) {
			snprintf(why, sizeof(why), "node %u has destroyed group %u", missing->without, g->number);
			zend_fail(g, zgroup_suspect_place(g, (int32_t)(missing->without + 1)), why);
		} else if (g->me != 0 && g->told_entered < next && zgroup_can_tell(&g->member[g->parent]) &&
			   is_entered(g, next)) {
			g->told_entered = next;
			tell(&g->member[g->parent], next);
		}
		break;
	}
	zend_reach(g);
}
