/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions for groups: they check, connect, and hand the rest to the context's thread. See zipcast.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "zipcast/command.h"
#include "zipcast/connect.h"
#include "zipcast/end.h"
#include "zipcast/used.h"

/* A hash of all that defines the group: the same in all members that mean the same group, whatever their byte order. */
static uint32_t define(const struct zipcast_group *g, const uint32_t *members)
{
	uint32_t hash = ZHASH32;
	for (uint32_t i = 0; i < 2 * g->nmembers + 3; i++) {
		uint32_t word = i < g->nmembers		   ? members[i]
				: i < 2 * g->nmembers	   ? g->site ? g->site[i - g->nmembers] : 0
				: i == 2 * g->nmembers	   ? g->nmembers
				: i == 2 * g->nmembers + 1 ? (uint32_t)g->algorithm
							   : g->block_bytes;
		const uint8_t bytes[] = {word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff, word >> 24};
		hash = zhash32(hash, bytes, sizeof(bytes));
	}
	return hash;
}

/* Finds the members that may send us the first block of a message: only they may send before there is memory for it. */
static int find_openers(struct zipcast_group *g)
{
	for (uint32_t blocks = 1; blocks <= 2; blocks++) {
		struct zcastplan_shape shape = {g->algorithm, g->nmembers, blocks, g->site};
		uint32_t from;
		int rc = zcastplan_first(&shape, g->me, &from);
		if (rc != 0)
			return rc;
		if (blocks == 1)
			g->parent = from;
		if (from != ZCASTPLAN_NOBODY)
			g->member[from].opens = blocks == 1 ? OPENS_SINGLE : OPENS_ALL;
	}
	return 0;
}

/* A message of one block takes a tree, which barriers take as well. */
static int find_children(struct zipcast_group *g)
{
	const struct zcastplan_shape shape = {g->algorithm, g->nmembers, 1, g->site};
	struct zcastplan *plan = zcastplan_create(&shape, g->me);
	struct zcastplan_step step;
	while (plan && zcastplan_next(plan, &step))
		if (step.to != ZCASTPLAN_NOBODY)
			g->member[step.to].child = true;
	zcastplan_destroy(plan);
	return plan ? 0 : -ENOMEM;
}

static int fill_members(struct zipcast_group *g, const uint32_t *members, struct zerr *err)
{
	struct zipcast *zc = g->zc;
	g->me = UINT32_MAX;
	for (uint32_t i = 0; i < g->nmembers; i++) {
		if (members[i] >= zc->nnodes)
			return zerr_set(err, -EINVAL, "member %u: there is no node %u", i, members[i]);
		g->member[i] = (struct member){.group = g, .node = &zc->node[members[i]], .last = UINT64_MAX};
		if (members[i] != zc->me)
			continue;
		if (g->me != UINT32_MAX)
			return zerr_set(err, -EINVAL, "node %u is a member twice", zc->me);
		g->me = i;
		g->member[i].node = NULL;
	}
	if (g->me == UINT32_MAX)
		return zerr_set(err, -EINVAL, "this node (%u) is not a member", zc->me);
	return 0;
}

static int find_neighbours(struct zipcast_group *g)
{
	bool *neighbour = calloc(g->nmembers, sizeof(*neighbour));
	struct zcastplan_shape shape = {g->algorithm, g->nmembers, 1, g->site};
	int rc = neighbour ? zcastplan_peers(&shape, g->me, neighbour) : -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < g->nmembers; i++)
		g->member[i].neighbour = neighbour[i];
	free(neighbour);
	return rc;
}

/* Sorts the places of the members by node, and refuses a node that is there twice. */
static int sort_members(struct zipcast_group *g, const uint32_t *members, struct zerr *err)
{
	const uint32_t nnodes = g->zc->nnodes;
	uint32_t *place = calloc(nnodes, sizeof(*place)), n = 0; /* of each node, plus 1; 0: no member */
	int rc = place ? 0 : -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < g->nmembers; i++) {
		if (place[members[i]])
			rc = zerr_set(err, -EINVAL, "node %u is a member twice", members[i]);
		place[members[i]] = i + 1;
	}
	for (uint32_t i = 0; rc == 0 && i < nnodes; i++)
		if (place[i])
			g->by_node[n++] = place[i] - 1;
	free(place);
	return rc;
}

static int fill_group(struct zipcast_group *g, const struct zipcast_group_config *c, struct zerr *err)
{
	int algorithm = zcastplan_find(c->algorithm ? c->algorithm : "pipeline");
	if (algorithm < 0)
		return zerr_set(err, -EINVAL, "there is no algorithm %.40s", c->algorithm);
	bool hybrid = algorithm == ZCASTPLAN_HYBRID_CHAIN || algorithm == ZCASTPLAN_HYBRID_PIPELINE;
	if (hybrid && !c->site)
		return zerr_set(err, -EINVAL, "%s needs to know the sites of the members", c->algorithm);
	if (c->block_bytes > ZIPCAST_BLOCK_BYTES_MAX)
		return zerr_set(err, -EINVAL, "blocks of %u bytes: %u at most", c->block_bytes,
			ZIPCAST_BLOCK_BYTES_MAX);
	g->algorithm = (enum zcastplan_algorithm)algorithm;
	g->number = c->number;
	g->nmembers = c->nmembers;
	g->block_bytes = c->block_bytes ? c->block_bytes : ZIPCAST_BLOCK_BYTES;
	g->queue_tail = &g->queue;
	g->entries_tail = &g->entries;
	g->end = UINT64_MAX;
	g->member = calloc(c->nmembers, sizeof(*g->member));
	g->site = hybrid ? malloc(c->nmembers * sizeof(uint32_t)) : NULL;
	g->by_node = malloc(c->nmembers * sizeof(uint32_t));
	if (!g->member || !g->by_node || (hybrid && !g->site))
		return -ENOMEM;
	if (hybrid)
		memcpy(g->site, c->site, c->nmembers * sizeof(uint32_t));
	int rc = fill_members(g, c->members, err);
	if (rc == 0)
		rc = sort_members(g, c->members, err);
	if (rc == 0)
		rc = find_neighbours(g);
	if (rc == 0)
		rc = find_openers(g);
	if (rc == 0)
		rc = find_children(g);
	g->definition = define(g, c->members);
	return rc;
}

/* This node connects to neighbours with a lower number, and asks zipperd for all bridged ones. The others connect to
 * this node. */
static int connect_neighbours(struct zipcast_group *g, char *why)
{
	int rc = 0;
	for (uint32_t i = 0; i < g->nmembers && rc == 0; i++) {
		struct member *m = &g->member[i];
		if (m->node && m->neighbour && (m->node->bridged || m->node->number < g->zc->me))
			rc = zconnect_node(m->node, why);
	}
	return rc;
}

int zipcast_group_create(struct zipcast_group **out, struct zipcast *zc, const struct zipcast_group_config *c,
	const struct zipcast_events *events, char why[ZIPCAST_WHY_BYTES])
{
	struct zerr err = {.text = ""};
	struct zipcast_group *g = calloc(1, sizeof(*g));
	int rc = g ? 0 : -ENOMEM;
	*out = NULL;
	why[0] = '\0';
	if (rc == 0 && (zcontext_on_thread(zc) || !zc->node))
		rc = zerr_set(&err, -EDEADLK,
			zc->node ? "groups are not made in callbacks" : "zipcast_meet comes first");
	if (rc == 0 && (c->nmembers == 0 || c->nmembers > zc->nnodes))
		rc = zerr_set(&err, -EINVAL, "%u members, but there are %u nodes", c->nmembers, zc->nnodes);
	if (rc == 0 && (!c->members || !events))
		rc = zerr_set(&err, -EINVAL, "no %s were given", c->members ? "callbacks" : "members");
	if (rc == 0) {
		g->zc = zc;
		g->events = *events;
		atomic_init(&g->failed, false);
		atomic_init(&g->suspect, ZIPCAST_NOBODY);
		rc = fill_group(g, c, &err);
	}
	if (rc == 0 && !g->events.incoming && g->me != 0)
		rc = zerr_set(&err, -EINVAL, "receivers need the callback for incoming messages");
	if (rc == 0)
		rc = zused_reserve(g, &err);
	if (rc != 0) {
		snprintf(why, ZIPCAST_WHY_BYTES, "%.*s", ZIPCAST_WHY_BYTES - 1, err.text[0] ? err.text : strerror(-rc));
		if (g)
			zgroup_free(g);
		return rc;
	}
	rc = connect_neighbours(g, why);
	struct command command = {.kind = rc == 0 ? COMMAND_GROUP : COMMAND_ABANDON, .group = g, .waited = true};
	if (rc == 0)
		*out = g;		  /* before a callback may destroy the group */
	zcommand_hand_over(zc, &command); /* frees a group that is abandoned */
	if (rc == 0 && command.rc != 0) {
		rc = command.rc;
		*out = NULL;
		snprintf(why, ZIPCAST_WHY_BYTES, "%s", strerror(-rc));
	}
	return rc;
}

int zipcast_send(struct zipcast_group *g, const void *data, uint64_t bytes)
{
	if (g->me != 0)
		return -EPERM;
	if (!data || bytes == 0 || (bytes - 1) / g->block_bytes >= INT32_MAX)
		return -EINVAL;
	if (atomic_load(&g->failed) || atomic_load(&g->sealed))
		return -EPIPE;
	struct command *c = calloc(1, sizeof(*c));
	struct outgoing *out = malloc(sizeof(*out));
	if (!c || !out) {
		free(c);
		free(out);
		return -ENOMEM;
	}
	*out = (struct outgoing){.data = (void *)(uintptr_t)data, .bytes = bytes};
	*c = (struct command){.kind = COMMAND_SEND, .group = g, .out = out};
	atomic_fetch_add(&g->accepted, 1);
	zcommand_hand_over(g->zc, c);
	return 0;
}

int zipcast_group_barrier(struct zipcast_group *g, void (*passed)(void *arg))
{
	if (atomic_load(&g->failed) || atomic_load(&g->sealed))
		return -EPIPE;
	struct command *c = calloc(1, sizeof(*c));
	struct entry *e = malloc(sizeof(*e));
	if (!c || !e) {
		free(c);
		free(e);
		return -ENOMEM;
	}
	*e = (struct entry){.passed = passed};
	*c = (struct command){.kind = COMMAND_BARRIER, .group = g, .entry = e};
	zcommand_hand_over(g->zc, c);
	return 0;
}

int zipcast_group_end(struct zipcast_group *g)
{
	if (g->me != 0)
		return -EPERM;
	struct command *c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	if (atomic_load(&g->failed) || atomic_exchange(&g->sealed, true)) {
		free(c);
		return -EPIPE;
	}
	*c = (struct command){.kind = COMMAND_END, .group = g};
	zcommand_hand_over(g->zc, c);
	return 0;
}

void zipcast_group_on_end(struct zipcast_group *g, void (*ended)(void *arg))
{
	struct command c = {.kind = COMMAND_ON_END, .group = g, .on_end = ended, .waited = true};
	if (zcontext_on_thread(g->zc))
		zend_on_end(g, ended);
	else
		zcommand_hand_over(g->zc, &c);
}

uint32_t zipcast_group_suspect(const struct zipcast_group *g)
{
	return atomic_load(&g->suspect);
}

void zipcast_group_sent(const struct zipcast_group *g, uint32_t member, uint64_t *blocks, uint64_t *bytes)
{
	const bool is = member < g->nmembers;
	*blocks = is ? atomic_load(&g->member[member].sent_blocks) : 0;
	*bytes = is ? atomic_load(&g->member[member].sent_bytes) : 0;
}

void zipcast_group_destroy(struct zipcast_group *g)
{
	if (!g)
		return;
	struct command c = {.kind = COMMAND_DESTROY, .group = g, .waited = true};
	if (zcontext_on_thread(g->zc))
		zend_destroy_now(g);
	else
		zcommand_hand_over(g->zc, &c);
}
