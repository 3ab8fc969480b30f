/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of the local search, see map_refine.h. Each pair of classes has a queue of moves. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_queue.h"
#include "mapper/search/map_refine.h"
#include "mapper/base/rng.h"

#define ALL_MOVE_MAX 20000u	      /* up to so many ranks, those in the middle of a class may move too */
#define WEARY_MIN 400u		      /* moves without a new best after which a pass ends */
#define WEARY_SHARE 64u		      /* or this fraction of all ranks, if it is more */
#define WORK_MAX (UINT64_C(48) << 20) /* ends of edges that the passes of one start may look at */

struct pass {
	struct map_state *c;
	struct map_queue *queue; /* [k * k] */
	uint32_t *stamp;	 /* [n]: an entry of a queue is old if its stamp is another one */
	uint8_t *done;		 /* [n]: the rank has moved, or may not move */
	uint32_t *moved;	 /* [n]: ranks in the order of their moves */
	uint8_t *from;		 /* [n]: the classes that they left */
	uint32_t nmoved, best;
	uint32_t over; /* class with one rank too many, or MAP_NONE */
	map_cost least;
	uint64_t work; /* ends of edges looked at, over all passes */
};

static struct map_queue *queue_of(const struct pass *p, uint32_t from, uint32_t to)
{
	return &p->queue[from * p->c->k + to];
}

static bool features_fit(const struct map_state *c, uint32_t rank, uint32_t to)
{
	const struct map_site *s = c->p->site;

	for (uint32_t f = 0; f < s->nfeatures; f++)
		if (c->p->rules->need[rank] >> f & 1 && c->needing[to][f] >= s->classes[to].limit[f])
			return false;
	return true;
}

/* Puts all moves of a rank into the queues. Equal costs are decided by chance, with another chance in each pass. */
static int rank_offer(struct pass *p, uint32_t v)
{
	struct map_state *c = p->c;
	const struct map_site *s = c->p->site;
	uint32_t from = c->class[v];
	map_cost stay = map_state_cost_in(c, v, from);
	int rc = 0;

	p->stamp[v]++;
	for (uint32_t to = 0; to < c->k && !rc; to++) {
		struct map_entry e = {.rank = v, .to = to, .stamp = p->stamp[v]};

		if (to == from || !map_rules_allow(c->p->rules, s, v, to))
			continue;
		e.cost = map_state_cost_in(c, v, to) - stay;
		e.chance = rng_mix(v + (c->random << 32)) & 255;
		rc = map_queue_push_stamped(queue_of(p, from, to), &e);
	}
	return rc;
}

/* Has the rank neighbours in other classes? */
static bool on_border(const struct map_state *c, uint32_t v)
{
	for (uint32_t b = 0; b < c->k; b++)
		if (b != c->class[v] && c->linked[(size_t)v * c->k + b])
			return true;
	return false;
}

static int pass_begin(struct pass *p)
{
	struct map_state *c = p->c;
	int rc = 0;

	for (uint32_t i = 0; i < c->k * c->k; i++)
		p->queue[i].n = 0;
	p->nmoved = p->best = 0;
	p->over = MAP_NONE;
	p->least = c->cost;
	c->random++;
	for (uint32_t v = 0; v < c->n && !rc; v++) {
		p->done[v] = c->p->rules->pin[v] != MAP_NONE;
		if (!p->done[v] && (c->n <= ALL_MOVE_MAX || on_border(c, v)))
			rc = rank_offer(p, v);
	}
	return rc;
}

/* The best move between two classes that still holds; NULL: there is none. */
static const struct map_entry *queue_look(struct pass *p, uint32_t from, uint32_t to)
{
	struct map_queue *q = queue_of(p, from, to);
	const struct map_entry *top;
	struct map_entry old;

	while ((top = map_queue_top(q)) != NULL) {
		if (!p->done[top->rank] && p->stamp[top->rank] == top->stamp && features_fit(p->c, top->rank, to))
			return top;
		map_queue_pop(q, &old);
	}
	return NULL;
}

/* The best move of all. If a class has one rank too many, the move must leave that class. */
static bool move_choose(struct pass *p, struct map_entry *best)
{
	const struct map_site *s = p->c->p->site;
	bool found = false;

	*best = (struct map_entry){.rank = MAP_NONE};
	for (uint32_t from = 0; from < p->c->k; from++) {
		if (p->over != MAP_NONE && from != p->over)
			continue;
		for (uint32_t to = 0; to < p->c->k; to++) {
			const struct map_entry *e =
				from == to || !s->classes[to].slots ? NULL : queue_look(p, from, to);

			if (!e || p->c->load[to] > s->classes[to].slots || (found && !map_entry_before(e, best)))
				continue;
			*best = *e;
			found = true;
		}
	}
	return found;
}

static int move_do(struct pass *p, const struct map_entry *e)
{
	struct map_state *c = p->c;
	const struct map_graph *g = c->p->graph;
	int rc = 0;

	p->from[p->nmoved] = c->class[e->rank];
	p->moved[p->nmoved++] = e->rank;
	p->done[e->rank] = 1;
	p->work += 2 * (g->off[e->rank + 1] - g->off[e->rank]) + 1;
	map_state_move(c, e->rank, e->to);
	p->over = c->load[e->to] > c->p->site->classes[e->to].slots ? e->to : MAP_NONE;
	for (uint64_t i = g->off[e->rank]; i < g->off[e->rank + 1] && !rc; i++)
		if (!p->done[g->adj[i]])
			rc = rank_offer(p, g->adj[i]);
	if (p->over == MAP_NONE && c->cost < p->least) {
		p->least = c->cost;
		p->best = p->nmoved;
	}
	return rc;
}

/* Runs one pass. *better: it found something. */
static int pass_run(struct pass *p, bool *better)
{
	uint32_t weary = p->c->n / WEARY_SHARE > WEARY_MIN ? p->c->n / WEARY_SHARE : WEARY_MIN;
	struct map_entry e;
	int rc = pass_begin(p);

	while (!rc && p->nmoved < p->c->n && p->nmoved - p->best < weary && p->work < WORK_MAX && move_choose(p, &e))
		rc = move_do(p, &e);
	while (p->nmoved > p->best) {
		p->nmoved--;
		map_state_move(p->c, p->moved[p->nmoved], p->from[p->nmoved]);
	}
	*better = p->best > 0;
	return rc;
}

int map_refine(struct map_state *c, struct zerr *err)
{
	struct pass p = {.c = c};
	bool better = true;
	int rc = 0;

	p.queue = calloc((size_t)c->k * c->k, sizeof(*p.queue));
	p.stamp = calloc(c->n, sizeof(*p.stamp));
	p.done = malloc(c->n);
	p.moved = malloc(c->n * sizeof(*p.moved));
	p.from = malloc(c->n);
	if (!p.queue || !p.stamp || !p.done || !p.moved || !p.from)
		rc = -ENOMEM;
	while (!rc && better && p.work < WORK_MAX)
		rc = pass_run(&p, &better);
	for (uint32_t i = 0; p.queue && i < c->k * c->k; i++)
		map_queue_free(&p.queue[i]);
	free(p.queue);
	free(p.stamp);
	free(p.done);
	free(p.moved);
	free(p.from);
	return rc ? zerr_set(err, rc, "not enough memory to refine the map") : 0;
}
