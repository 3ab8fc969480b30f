/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses how often items draw paths, see adapt_draws.h. */
#include "mapper/model/adapt_draws.h"

#include <math.h>

static uint32_t links_count(const struct net *net)
{
	uint32_t n = 0;

	for (uint32_t l = 0; l < net->links; l++)
		n += net->link_class[l] != NET_NONE;
	return n;
}

/* Adds the items of a flow, by their number of messages. */
static void items_tally(const struct traffic *t, uint64_t *with)
{
	for (size_t i = 0; i < t->nchunks; i++)
		for (uint64_t j = 0; j < t->chunks[i].off[t->chunks[i].n]; j++)
			with[t->chunks[i].messages[j]]++;
}

/* The paths of an iteration that are enough, by the first rule of adapt_draws.h. Paths are drawn in each iteration in
 * which bandwidth is exposed. */
static double paths_enough(const struct adapt *a)
{
	double links = links_count(a->net), error = ADAPT_DRAWS_ERROR;

	return 2 * log(links + 1) / (error * error) * links / a->net->indirect_slots / a->exposure;
}

void adapt_draws_choose(struct adapt *a, unsigned nflows)
{
	uint64_t with[TRAFFIC_MESSAGES_MAX + 1] = {0}, more = 0, pieces;
	double enough = paths_enough(a);

	for (unsigned f = 0; f < nflows; f++)
		if (a->flows[f].routing->fresh)
			items_tally(a->flows[f].traffic, with);
	for (unsigned m = 1; m <= TRAFFIC_MESSAGES_MAX; m++)
		more += with[m];
	pieces = more;
	a->turns = (unsigned)(pieces * a->opts->paths / a->opts->work) + 1;
	a->draws = 1;
	more -= with[1];
	/* one more piece for each item that has as many messages */
	while (more && a->draws < TRAFFIC_MESSAGES_MAX && (double)pieces * a->opts->paths < enough &&
		(pieces + more) * a->opts->paths <= a->opts->work) {
		pieces += more;
		more -= with[++a->draws];
	}
	a->draws_fewer = more > 0;
}

static uint32_t pieces_of(const struct adapt *a, const struct adapt_task *t, uint64_t j)
{
	return t->chunk->messages[j] < a->draws ? t->chunk->messages[j] : a->draws;
}

uint64_t adapt_draws_count(const struct adapt *a, const struct adapt_task *t)
{
	uint64_t n = 0;

	if (a->draws == 1 || !a->flows[t->flow].routing->fresh)
		return t->items;
	for (uint64_t j = 0; j < t->items; j++)
		n += pieces_of(a, t, j);
	return n;
}

void adapt_draws_cut(const struct adapt *a, struct adapt_task *t)
{
	uint32_t n = 0;

	for (uint64_t j = 0; j < t->items; j++) {
		t->piece[j] = n;
		n += pieces_of(a, t, j);
	}
	t->piece[t->items] = n;
}
