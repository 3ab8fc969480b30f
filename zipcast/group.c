/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding groups and members, and what holds for a group at any time; see group.h. */
#include "zipcast/group.h"

#include <stdlib.h>

struct zipcast_group *zgroup_find(struct zipcast *zc, uint32_t number)
{
	struct zipcast_group *g;
	HASH_FIND(hh, zc->groups, &number, sizeof(number), g);
	return g;
}

struct zipcast_group *zgroup_of(struct zipcast *zc, const struct zwire_env *env)
{
	return env->comm <= UINT32_MAX ? zgroup_find(zc, (uint32_t)env->comm) : NULL;
}

static uint32_t number_of(const struct member *m)
{
	return m->node ? m->node->number : m->group->zc->me;
}

struct member *zgroup_find_member(struct zipcast_group *g, const struct node *n)
{
	uint32_t low = 0, high = g->nmembers;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (number_of(&g->member[g->by_node[middle]]) < n->number)
			low = middle + 1;
		else
			high = middle;
	}
	struct member *m = low < g->nmembers ? &g->member[g->by_node[low]] : NULL;
	return m && m->node == n ? m : NULL;
}

int32_t zgroup_suspect_tag(const struct zipcast_group *g, uint32_t place)
{
	return place < g->nmembers ? (int32_t)(number_of(&g->member[place]) + 1) : 0;
}

uint32_t zgroup_suspect_place(struct zipcast_group *g, int32_t tag)
{
	const uint32_t number = (uint32_t)tag - 1; /* 0 becomes a number that no node has */
	if (number == g->zc->me)
		return g->me;
	const struct member *m = number < g->zc->nnodes ? zgroup_find_member(g, &g->zc->node[number]) : NULL;
	return m ? zgroup_place(m) : ZIPCAST_NOBODY;
}

void zgroup_set_deadline(struct zipcast_group *g, int64_t deadline_ms)
{
	g->zc->ndeadlines += (deadline_ms != 0) - (g->deadline_ms != 0);
	g->deadline_ms = deadline_ms;
}

void zgroup_tell_all(struct zipcast_group *g, struct zwire_env *env, const char *text)
{
	for (uint32_t i = 0; i < g->nmembers; i++) {
		struct member *m = &g->member[i];
		if (!zgroup_can_tell(m))
			continue;
		env->dst = m->node->number;
		znode_tell(m->node, env, text);
	}
}

uint32_t zgroup_leaves_without(const struct zipcast_group *g)
{
	return g->leaver && g->leaver->last <= g->message.number ? g->leaver->without : g->zc->me;
}

struct zcastplan_shape zgroup_shape(const struct zipcast_group *g)
{
	return (struct zcastplan_shape){.algorithm = g->algorithm, .members = g->nmembers, .site = g->site};
}

void zgroup_drop_queue(struct zipcast_group *g)
{
	while (g->queue) {
		struct outgoing *o = g->queue;
		g->queue = o->next;
		free(o);
	}
	g->queue_tail = &g->queue;
	while (g->entries) {
		struct entry *e = g->entries;
		g->entries = e->next;
		free(e);
	}
	g->entries_tail = &g->entries;
}

void zgroup_free(struct zipcast_group *g)
{
	zmessage_drop(&g->message);
	zgroup_drop_queue(g);
	free(g->member);
	free(g->site);
	free(g->by_node);
	free(g);
}
