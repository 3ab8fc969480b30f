/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans, see castplan.h: the table of algorithms, and the three simple ones. */
#include "common/castplan/castplan_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct zcast_plan_ops *const table[ZCAST_ALGORITHMS] = {
	[ZCAST_SEQUENTIAL] = &zcast_plan_sequential,
	[ZCAST_TREE] = &zcast_plan_tree,
	[ZCAST_CHAIN] = &zcast_plan_chain,
	[ZCAST_PIPELINE] = &zcast_plan_pipeline,
	[ZCAST_HYBRID_CHAIN] = &zcast_plan_hybrid_chain,
	[ZCAST_HYBRID_PIPELINE] = &zcast_plan_hybrid_pipeline,
};

int zcast_algorithm_find(const char *name)
{
	for (int i = 0; i < ZCAST_ALGORITHMS; i++)
		if (strcmp(table[i]->name, name) == 0)
			return i;
	return -1;
}

uint32_t zcast_log2_ceil(uint32_t n)
{
	return n <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(n - 1);
}

uint64_t zcast_plan_steps(const struct zcast_shape *shape)
{
	return shape->members < 2 ? 0 : table[shape->algorithm]->steps(shape);
}

struct zcast_plan *zcast_plan_create(const struct zcast_shape *shape, uint32_t member)
{
	struct zcast_plan *p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->ops = table[shape->algorithm];
	p->members = shape->members;
	p->blocks = shape->blocks;
	p->me = member;
	p->steps = zcast_plan_steps(shape);
	if (p->steps == UINT64_MAX || (p->steps && p->ops->begin && p->ops->begin(p, shape) != 0)) {
		zcast_plan_destroy(p);
		return NULL;
	}
	return p;
}

void zcast_plan_destroy(struct zcast_plan *p)
{
	if (p && p->ops->end)
		p->ops->end(p);
	free(p);
}

int zcast_plan_peers(const struct zcast_shape *shape, uint32_t member, bool *peer)
{
	struct zcast_plan *p = zcast_plan_create(shape, member);
	int rc = !p ? -ENOMEM : p->steps ? p->ops->peers(p, peer) : 0;
	zcast_plan_destroy(p);
	return rc;
}

int zcast_plan_first(const struct zcast_shape *shape, uint32_t member, uint32_t *from)
{
	struct zcast_plan *p = zcast_plan_create(shape, member);
	struct zcast_step step = {.from = ZCAST_NOBODY};
	if (!p)
		return -ENOMEM;
	while (step.from == ZCAST_NOBODY && zcast_plan_next(p, &step))
		;
	*from = step.from;
	zcast_plan_destroy(p);
	return 0;
}

bool zcast_plan_next(struct zcast_plan *p, struct zcast_step *out)
{
	*out = (struct zcast_step){.to = ZCAST_NOBODY, .from = ZCAST_NOBODY};
	return p->steps > 0 && p->ops->next(p, out);
}

/* --- sequential --- */

static uint64_t sequential_steps(const struct zcast_shape *s)
{
	return (uint64_t)(s->members - 1) * s->blocks;
}

static bool sequential_next(struct zcast_plan *p, struct zcast_step *out)
{
	uint64_t first = p->me ? (uint64_t)(p->me - 1) * p->blocks : 0;
	if (p->next < first)
		p->next = first;
	if (p->next >= (p->me ? first + p->blocks : p->steps))
		return false;
	out->number = p->next++;
	if (p->me) {
		out->from = 0;
		out->recv_block = (uint32_t)(out->number - first);
	} else {
		out->to = (uint32_t)(out->number / p->blocks) + 1;
		out->send_block = (uint32_t)(out->number % p->blocks);
	}
	return true;
}

static int sequential_peers(const struct zcast_plan *p, bool *peer)
{
	for (uint32_t i = 0; i < p->members; i++)
		peer[i] = (i == 0) != (p->me == 0);
	return 0;
}

const struct zcast_plan_ops zcast_plan_sequential = {.name = "sequential",
	.steps = sequential_steps,
	.next = sequential_next,
	.peers = sequential_peers};

/* --- tree: in round r the members below 2^r send to the one 2^r above them --- */

static uint64_t tree_steps(const struct zcast_shape *s)
{
	return (uint64_t)zcast_log2_ceil(s->members) * s->blocks;
}

static bool tree_next(struct zcast_plan *p, struct zcast_step *out)
{
	/* It receives in the round of its highest bit, and sends in all later ones. */
	uint32_t first = p->me ? 31 - (uint32_t)__builtin_clz(p->me) : 0;
	if (p->next < (uint64_t)first * p->blocks)
		p->next = (uint64_t)first * p->blocks;
	uint32_t round = (uint32_t)(p->next / p->blocks), block = (uint32_t)(p->next % p->blocks);
	uint64_t bit = UINT64_C(1) << round;
	out->number = p->next++;
	if (p->me & bit) {
		out->from = p->me ^ (uint32_t)bit;
		out->recv_block = block;
		return true;
	}
	out->send_block = block;
	out->to = p->me + bit < p->members ? (uint32_t)(p->me + bit) : ZCAST_NOBODY;
	return out->to != ZCAST_NOBODY;
}

static int tree_peers(const struct zcast_plan *p, bool *peer)
{
	uint64_t bit = UINT64_C(1) << (p->me ? 31 - __builtin_clz(p->me) : 0);
	if (p->me)
		peer[p->me ^ bit] = true;
	for (bit = p->me ? 2 * bit : 1; p->me + bit < p->members; bit *= 2)
		peer[p->me + bit] = true;
	return 0;
}

const struct zcast_plan_ops zcast_plan_tree = {.name = "tree",
	.steps = tree_steps,
	.next = tree_next,
	.peers = tree_peers};

/* --- chain --- */

static uint64_t chain_steps(const struct zcast_shape *s)
{
	return (uint64_t)s->blocks + s->members - 2;
}

static bool chain_next(struct zcast_plan *p, struct zcast_step *out)
{
	uint64_t first = p->me ? p->me - 1 : 0;
	if (p->next < first)
		p->next = first;
	uint64_t t = out->number = p->next++;
	if (p->me && t - first < p->blocks) {
		out->from = p->me - 1;
		out->recv_block = (uint32_t)(t - first);
	}
	if (p->me + 1 < p->members && t >= p->me && t - p->me < p->blocks) {
		out->to = p->me + 1;
		out->send_block = (uint32_t)(t - p->me);
	}
	return out->from != ZCAST_NOBODY || out->to != ZCAST_NOBODY;
}

static int chain_peers(const struct zcast_plan *p, bool *peer)
{
	if (p->me)
		peer[p->me - 1] = true;
	if (p->me + 1 < p->members)
		peer[p->me + 1] = true;
	return 0;
}

const struct zcast_plan_ops zcast_plan_chain = {.name = "chain",
	.steps = chain_steps,
	.next = chain_next,
	.peers = chain_peers};
