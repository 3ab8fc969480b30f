/* SPDX-License-Identifier: BSD-3-Clause */
/* Legs between cells and messages. Where several messages share each leg of a forked network, the least bandwidth on a
 * leg's links is found once for all of them. Their requests are summed for the leg before they are added to its links.
 * Sums are integers, so the result is the same either way. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/model/adapt_legs.h"
#include "mapper/base/pages.h"
#include "mapper/base/par.h"

#define LEGS_A_TASK 4096u
#define LEGS_AT_ONCE 128u
/* Measured: a message costs about six times as much by its links as by its legs. In a pass over all legs a leg costs
 * about as much as a message by its legs. */
#define ASKING_A_LEG 4u

typedef void leg_fn(struct adapt *, struct adapt_cell *cells, uint32_t leg, const struct net_leg *);

static inline float least(float a, float b)
{
	return a < b ? a : b;
}

static inline __attribute__((always_inline)) void legs_each(struct adapt *a, size_t item, unsigned worker, leg_fn *fn)
{
	struct net_leg leg[LEGS_AT_ONCE];
	uint32_t first = (uint32_t)item * LEGS_A_TASK;
	uint32_t end = a->net->legs - first < LEGS_A_TASK ? a->net->legs : first + LEGS_A_TASK;

	for (uint32_t n; first < end; first += n) {
		n = end - first < LEGS_AT_ONCE ? end - first : LEGS_AT_ONCE;
		a->net->ops->legs_list(a->net, first, n, leg);
		for (uint32_t i = 0; i < n; i++)
			fn(a, a->cells[worker], first + i, &leg[i]);
	}
}

static void leg_measure(struct adapt *a, struct adapt_cell *cells, uint32_t leg, const struct net_leg *links)
{
	(void)cells;
	a->leg_hops[leg] = adapt_leg_hops(a, links);
}

static void leg_fill(struct adapt *a, struct adapt_cell *cells, uint32_t leg, const struct net_leg *links)
{
	for (int way = 0; way < 2; way++) {
		const struct adapt_cell *x = &cells[links->link[way][0]], *y = &cells[links->link[way][1]];

		a->legs[leg].left[way] = least(x->left, y->left);
		a->legs[leg].share[way] = least(x->share, y->share);
	}
}

static void leg_flush(struct adapt *a, struct adapt_cell *cells, uint32_t leg, const struct net_leg *links)
{
	for (int way = 0; way < 2; way++) {
		uint64_t sum = 0;

		for (unsigned w = 0; w < a->opts->threads; w++) {
			sum += a->leg_sums[w][leg][way];
			a->leg_sums[w][leg][way] = 0;
		}
		cells[links->link[way][0]].sum += sum;
		cells[links->link[way][1]].sum += sum;
	}
}

static void legs_measure(void *arg, size_t item, unsigned worker)
{
	legs_each(arg, item, worker, leg_measure);
}

static void legs_fill(void *arg, size_t item, unsigned worker)
{
	legs_each(arg, item, worker, leg_fill);
}

static void legs_flush(void *arg, size_t item, unsigned worker)
{
	legs_each(arg, item, worker, leg_flush);
}

static void legs_run(struct adapt *a, par_fn *fn)
{
	par_run(a->opts->threads, (a->net->legs - 1) / LEGS_A_TASK + 1, fn, a);
}

void adapt_legs_fill(struct adapt *a)
{
	if (a->dense)
		legs_run(a, legs_fill);
}

void adapt_legs_flush(struct adapt *a)
{
	if (a->dense)
		legs_run(a, legs_flush);
}

bool adapt_legs_many(const struct adapt *a, uint64_t messages)
{
	return a->net->forked && messages >= a->net->legs / ASKING_A_LEG + 1;
}

int adapt_legs_create(struct adapt *a)
{
	a->legs = pages_alloc(a->net->legs * sizeof(*a->legs));
	a->leg_sums = calloc(a->opts->threads, sizeof(*a->leg_sums));
	a->leg_hops = malloc(a->net->legs);
	if (!a->legs || !a->leg_sums || !a->leg_hops)
		return -ENOMEM;
	legs_run(a, legs_measure);
	for (unsigned w = 0; w < a->opts->threads; w++) {
		a->leg_sums[w] = pages_alloc(a->net->legs * sizeof(**a->leg_sums));
		if (!a->leg_sums[w])
			return -ENOMEM;
	}
	return 0;
}

void adapt_legs_destroy(struct adapt *a)
{
	for (unsigned w = 0; a->leg_sums && w < a->opts->threads; w++)
		pages_free(a->leg_sums[w], a->net->legs * sizeof(**a->leg_sums));
	free(a->leg_sums);
	free(a->leg_hops);
	pages_free(a->legs, a->net->legs * sizeof(*a->legs));
}
