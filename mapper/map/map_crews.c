/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges the ranks of whole nodes, see map_crews.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/base/rng.h"
#include "mapper/map/map_crews.h"

#define IMPROVE_NODES_MAX 2048u /* beyond, the tables of all pairs of nodes would be too large */
#define SWEEPS_MAX 50
#define KICKS_MAX 300u
#define KICK_WORK (UINT64_C(1) << 30) /* steps after which no further kick is tried */

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory for the network");
}

/* The crews of all nodes. Crews change places; their messages to each other stay. */
struct crews {
	const struct map_fabric *f;
	const struct map_site *s;
	uint32_t n;		/* nodes */
	uint64_t *bytes;	/* [n * n]: between two crews, both directions */
	uint8_t *hops;		/* [n * n]: links between two nodes */
	uint32_t *place, *size; /* [n]: the node of a crew; the number of its ranks */
	bool *fixed;		/* [n]: a rule holds one of its ranks */
	uint64_t work;		/* steps taken so far */
};

static uint8_t hops_count(const struct net *net, uint32_t from, uint32_t to)
{
	uint32_t link[NET_SLOTS_MAX];
	uint8_t n = 0;

	if (from == to || !net->ops->direct_count(net, from, to))
		return 0;
	net->ops->direct(net, from, to, 0, link);
	for (uint32_t i = 0; i < net->direct_slots; i++)
		n += net->link_class[link[i]] != NET_NONE;
	return n;
}

static int crews_create(struct crews *c, const struct map_fabric *f, const struct map_problem *p,
	const struct zgraph *g, const struct map_layout *l)
{
	uint32_t n = p->site->nnodes;

	*c = (struct crews){.f = f, .s = p->site, .n = n};
	c->bytes = calloc((size_t)n * n, sizeof(*c->bytes));
	c->hops = malloc((size_t)n * n);
	c->place = malloc(n * sizeof(*c->place));
	c->size = calloc(n, sizeof(*c->size));
	c->fixed = calloc(n, sizeof(*c->fixed));
	if (!c->bytes || !c->hops || !c->place || !c->size || !c->fixed)
		return -ENOMEM;
	for (uint32_t a = 0; a < n; a++) {
		c->place[a] = a;
		for (uint32_t b = 0; b < n; b++)
			c->hops[a * n + b] = hops_count(f->net, f->point[a], f->point[b]);
	}
	for (uint32_t v = 0; v < l->n; v++) {
		uint32_t a = l->node[v];

		c->size[a]++;
		c->fixed[a] |= p->rules->pin[v] != MAP_NONE || p->rules->need[v];
		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++) {
			c->bytes[a * n + l->node[g->peer[e]]] += g->bytes[e];
			c->bytes[l->node[g->peer[e]] * n + a] += g->bytes[e];
		}
	}
	return 0;
}

static void crews_free(struct crews *c)
{
	free(c->bytes);
	free(c->hops);
	free(c->place);
	free(c->size);
	free(c->fixed);
}

/* The decrease of bytes x links if two crews change places. */
static __int128 exchange_gain(const struct crews *c, uint32_t a, uint32_t b)
{
	const uint8_t *at_a = c->hops + (size_t)c->place[a] * c->n, *at_b = c->hops + (size_t)c->place[b] * c->n;
	const uint64_t *of_a = c->bytes + (size_t)a * c->n, *of_b = c->bytes + (size_t)b * c->n;
	__int128 gain = 0;

	for (uint32_t k = 0; k < c->n; k++) {
		int nearer = at_a[c->place[k]] - at_b[c->place[k]];

		if (k != a && k != b)
			gain += ((__int128)of_a[k] - (__int128)of_b[k]) * nearer;
	}
	return gain;
}

static bool may_exchange(const struct crews *c, uint32_t a, uint32_t b)
{
	const struct map_node *na = &c->s->nodes[c->place[a]], *nb = &c->s->nodes[c->place[b]];

	return na->class == nb->class && na->class != MAP_NONE && !c->fixed[a] && !c->fixed[b] &&
	       (c->size[a] || c->size[b]) && c->size[a] <= nb->slots && c->size[b] <= na->slots;
}

static __int128 exchange(struct crews *c, uint32_t a, uint32_t b)
{
	__int128 gain = exchange_gain(c, a, b);
	uint32_t place = c->place[a];

	c->place[a] = c->place[b];
	c->place[b] = place;
	return gain;
}

/* Makes exchanges that gain, until there are none. Returns the gain. */
static __int128 crews_descend(struct crews *c)
{
	__int128 gained = 0;
	bool better = true;

	for (int sweep = 0; sweep < SWEEPS_MAX && better; sweep++) {
		better = false;
		for (uint32_t a = 0; a < c->n; a++)
			for (uint32_t b = 0; b < a; b++)
				if (may_exchange(c, a, b) && exchange_gain(c, a, b) > 0) {
					gained += exchange(c, a, b);
					better = true;
				}
		c->work += (uint64_t)c->n * c->n * c->n / 2;
	}
	return gained;
}

/* A descent gets stuck where two pairs of nodes would have to change places at once, as in a fat tree. Some exchanges
 * by chance and another descent therefore follow, over and over. */
static int crews_improve(struct crews *c, uint64_t seed)
{
	uint32_t *best = malloc(c->n * sizeof(*best));

	if (!best)
		return -ENOMEM;
	crews_descend(c);
	for (unsigned kick = 0; kick < KICKS_MAX && c->work < KICK_WORK; kick++) {
		__int128 gained = 0;

		memcpy(best, c->place, c->n * sizeof(*best));
		for (unsigned i = 0; i < 2 + kick % 5; i++) {
			uint64_t bits = rng_at(seed, RNG_MAP, 4, 8 * (uint64_t)kick + i);
			uint32_t a = rng_below((uint32_t)bits, c->n), b = rng_below((uint32_t)(bits >> 32), c->n);

			if (a != b && may_exchange(c, a, b))
				gained += exchange(c, a, b);
		}
		gained += crews_descend(c);
		if (gained <= 0)
			memcpy(c->place, best, c->n * sizeof(*best));
	}
	free(best);
	return 0;
}

int map_crews_improve(const struct map_fabric *f, const struct map_problem *p, const struct zgraph *g,
	struct map_layout *l, uint32_t *moved, struct zerr *err)
{
	double before, after, mean;
	char name[NET_LINK_NAME_SIZE];
	struct map_layout other;
	struct crews c;
	int rc;

	*moved = 0;
	if (p->site->nnodes > IMPROVE_NODES_MAX)
		return 0;
	rc = crews_create(&c, f, p, g, l) ? no_memory(err) : map_layout_copy(&other, l, err);
	if (rc) {
		crews_free(&c);
		return rc;
	}
	rc = crews_improve(&c, f->seed) ? no_memory(err) : 0;
	for (uint32_t a = 0; a < c.n; a++)
		*moved += c.place[a] != a && c.size[a];
	for (uint32_t v = 0; v < l->n; v++)
		other.node[v] = c.place[l->node[v]];
	if (!rc)
		rc = map_fabric_links(f, g, l, &before, &mean, name, sizeof(name), err);
	if (!rc)
		rc = map_fabric_links(f, g, &other, &after, &mean, name, sizeof(name), err);
	if (!rc && after <= before)
		memcpy(l->node, other.node, l->n * sizeof(*l->node));
	else
		*moved = 0;
	map_layout_free(&other);
	crews_free(&c);
	return rc;
}
