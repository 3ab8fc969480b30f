/* SPDX-License-Identifier: BSD-3-Clause */
/* The three simple plans: sequential, tree and chain (castplan.h). */
#include "common/castplan/castplan_simple.h"

/* --- sequential --- */

static uint64_t sequential_steps(const struct zcastplan_shape *s)
{
	return (uint64_t)(s->members - 1) * s->blocks;
}

static bool sequential_next(struct zcastplan *p, struct zcastplan_step *out)
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

static int sequential_peers(const struct zcastplan *p, bool *peer)
{
	for (uint32_t i = 0; i < p->members; i++)
		peer[i] = (i == 0) != (p->me == 0);
	return 0;
}

const struct zcastplan_ops zcastplan_simple_sequential = {.name = "sequential",
	.steps = sequential_steps,
	.next = sequential_next,
	.peers = sequential_peers};

/* --- tree: in round r each member below 2^r sends to the member 2^r above it --- */

static uint64_t tree_steps(const struct zcastplan_shape *s)
{
	return (uint64_t)zcastplan_base_log2(s->members) * s->blocks;
}

static bool tree_next(struct zcastplan *p, struct zcastplan_step *out)
{
	/* A member receives in the round of its highest bit, and sends in all later rounds. */
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
	out->to = p->me + bit < p->members ? (uint32_t)(p->me + bit) : ZCASTPLAN_NOBODY;
	return out->to != ZCASTPLAN_NOBODY;
}

static int tree_peers(const struct zcastplan *p, bool *peer)
{
	uint64_t bit = UINT64_C(1) << (p->me ? 31 - __builtin_clz(p->me) : 0);
	if (p->me)
		peer[p->me ^ bit] = true;
	for (bit = p->me ? 2 * bit : 1; p->me + bit < p->members; bit *= 2)
		peer[p->me + bit] = true;
	return 0;
}

const struct zcastplan_ops zcastplan_simple_tree = {.name = "tree",
	.steps = tree_steps,
	.next = tree_next,
	.peers = tree_peers};

/* --- chain --- */

static uint64_t chain_steps(const struct zcastplan_shape *s)
{
	return (uint64_t)s->blocks + s->members - 2;
}

static bool chain_next(struct zcastplan *p, struct zcastplan_step *out)
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
	return out->from != ZCASTPLAN_NOBODY || out->to != ZCASTPLAN_NOBODY;
}

static int chain_peers(const struct zcastplan *p, bool *peer)
{
	if (p->me)
		peer[p->me - 1] = true;
	if (p->me + 1 < p->members)
		peer[p->me + 1] = true;
	return 0;
}

const struct zcastplan_ops zcastplan_simple_chain = {.name = "chain",
	.steps = chain_steps,
	.next = chain_next,
	.peers = chain_peers};
