/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of routers joined in any way. All bytes for one destination flow towards it together: each router passes on
 * what it has and what it gets, the farthest ones first. Amounts are integers, so that the order of additions does not
 * matter and nothing is lost in a division. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/base/par.h"
#include "mapper/net/routers_load.h"
#include "mapper/traffic/traffic.h"

#define FRACTION_BITS 16 /* amounts are in units of 2^-16 bytes, or larger where very many bytes are under way */

/* Evenly over all shortest paths (SD); evenly over the links that lead on, at each router (ECMP); over any end (SI). */
enum split { SPLIT_PATHS, SPLIT_LINKS, SPLIT_INDIRECT };

struct item {
	uint32_t src;
	uint64_t bytes;
};

struct loading {
	const struct routers *r;
	enum split split;
	unsigned bits;		   /* the unit is 2^-bits bytes */
	struct item *items;	   /* by destination */
	size_t *first;		   /* [ends + 1] into items */
	uint64_t *sent, *received; /* [ends], bytes */
	uint64_t *sum;		   /* [links], shared, atomic */
	double *hops;		   /* [ends], units x hops of each destination */
	uint64_t **amount;	   /* [threads][n], of each router on its way to the destination */
	uint32_t **order;	   /* [threads][n] */
};

/* Sorts the items by destination. */
static int items_sort(struct loading *w, const struct traffic *t)
{
	size_t *at = w->first;

	w->items = malloc((t->items + 1) * sizeof(*w->items));
	if (!w->items)
		return -ENOMEM;
	for (int fill = 0; fill < 2; fill++) {
		for (size_t k = 0; k < t->nchunks; k++) {
			const struct traffic_chunk *c = &t->chunks[k];

			for (uint32_t i = 0; i < c->n; i++)
				for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++) {
					size_t *place = &at[c->items[j].dst + !fill];

					if (fill)
						w->items[*place] =
							(struct item){c->first + i, c->items[j].units * t->unit};
					++*place;
				}
		}
		for (uint32_t d = 0; d < w->r->ends && !fill; d++)
			at[d + 1] += at[d];
	}
	memmove(at + 1, at, w->r->ends * sizeof(*at));
	at[0] = 0;
	return 0;
}

/* Lists the routers by their distance from d, the farthest ones first. */
static void order_make(const struct routers *r, uint32_t d, uint32_t *order)
{
	const uint8_t *hops = r->hops + (size_t)d * r->n;
	uint32_t at[ROUTERS_HOPS_MAX + 2] = {0};

	for (uint32_t v = 0; v < r->n; v++)
		at[r->diameter - hops[v] + 1]++;
	for (uint32_t h = 1; h <= r->diameter; h++)
		at[h] += at[h - 1];
	for (uint32_t v = 0; v < r->n; v++)
		order[at[r->diameter - hops[v]]++] = v;
}

/* The bytes that begin at each router on their way to d. */
static void amounts_begin(const struct loading *w, uint32_t d, uint64_t *amount)
{
	uint32_t ends = w->r->ends;

	memset(amount, 0, w->r->n * sizeof(*amount));
	if (w->split != SPLIT_INDIRECT) {
		for (size_t j = w->first[d]; j < w->first[d + 1]; j++)
			amount[w->items[j].src] += w->items[j].bytes << w->bits;
		return;
	}
	/* one in `ends` of what each end sends goes to d as the end in the middle; and one in `ends` of what d receives
	 * comes from each end */
	for (uint32_t s = 0; s < ends; s++)
		amount[s] = ((w->sent[s] << w->bits) + (w->received[d] << w->bits)) / ends;
}

/* Passes on what router v has for d. Each link gets the difference of two rounded sums, so that nothing is lost. */
static void router_pass(const struct loading *w, uint32_t v, uint32_t d, uint64_t *amount)
{
	const struct routers *r = w->r;
	const uint8_t *hops = r->hops + (size_t)d * r->n;
	const uint32_t *ways = r->ways + (size_t)d * r->n;
	uint64_t all = 0, sum = 0, given = 0;

	for (uint32_t l = r->first[v]; l < r->first[v + 1]; l++)
		if (hops[r->link[l].to] + 1 == hops[v])
			all += w->split == SPLIT_LINKS ? 1 : ways[r->link[l].to];
	for (uint32_t l = r->first[v]; l < r->first[v + 1]; l++) {
		uint32_t to = r->link[l].to;
		uint64_t upto;

		if (hops[to] + 1 != hops[v])
			continue;
		sum += w->split == SPLIT_LINKS ? 1 : ways[to];
		upto = (uint64_t)((unsigned __int128)amount[v] * sum / all);
		__atomic_fetch_add(&w->sum[l], upto - given, __ATOMIC_RELAXED);
		amount[to] += upto - given;
		given = upto;
	}
}

static void destination_load(void *arg, size_t item, unsigned worker)
{
	struct loading *w = arg;
	const struct routers *r = w->r;
	uint32_t d = (uint32_t)item, *order = w->order[worker];
	uint64_t *amount = w->amount[worker];

	if (w->split != SPLIT_INDIRECT && w->first[d] == w->first[d + 1])
		return;
	amounts_begin(w, d, amount);
	for (uint32_t s = 0; s < r->ends; s++)
		w->hops[d] += (double)amount[s] * r->hops[(size_t)d * r->n + s];
	order_make(r, d, order);
	for (uint32_t i = 0; i < r->n; i++)
		if (order[i] != d && amount[order[i]])
			router_pass(w, order[i], d, amount);
}

static int loading_create(struct loading *w, const struct traffic *t, unsigned threads)
{
	const struct routers *r = w->r;

	w->first = calloc((size_t)r->ends + 1, sizeof(*w->first));
	w->sent = calloc(2 * (size_t)r->ends, sizeof(*w->sent));
	w->sum = calloc((size_t)r->links + 1, sizeof(*w->sum));
	w->hops = calloc(r->ends, sizeof(*w->hops));
	w->amount = calloc(threads, sizeof(*w->amount));
	w->order = calloc(threads, sizeof(*w->order));
	if (!w->first || !w->sent || !w->sum || !w->hops || !w->amount || !w->order || items_sort(w, t))
		return -ENOMEM;
	w->received = w->sent + r->ends;
	for (unsigned i = 0; i < threads; i++) {
		w->amount[i] = malloc(r->n * sizeof(**w->amount));
		w->order[i] = malloc(r->n * sizeof(**w->order));
		if (!w->amount[i] || !w->order[i])
			return -ENOMEM;
	}
	for (uint32_t d = 0; d < r->ends; d++)
		for (size_t j = w->first[d]; j < w->first[d + 1]; j++) {
			w->sent[w->items[j].src] += w->items[j].bytes;
			w->received[d] += w->items[j].bytes;
		}
	return 0;
}

static void loading_destroy(struct loading *w, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++) {
		if (w->amount)
			free(w->amount[i]);
		if (w->order)
			free(w->order[i]);
	}
	free(w->amount);
	free(w->order);
	free(w->items);
	free(w->first);
	free(w->sent);
	free(w->sum);
	free(w->hops);
}

static int load_split(const struct net *net, const struct traffic *t, enum split split, unsigned threads,
	struct net_load *load)
{
	const struct routers *r = &((const struct routers_net *)net)->routers;
	struct loading w = {.r = r, .split = split, .bits = FRACTION_BITS};
	int rc = loading_create(&w, t, threads);

	/* a link may carry all bytes twice, on the way to the end in the middle and on the way from it */
	while (w.bits && t->bytes >> (62 - w.bits))
		w.bits--;
	if (!rc) {
		par_run(threads, r->ends, destination_load, &w);
		for (uint32_t l = 0; l < r->links; l++)
			load->bytes[l + 1] += (double)w.sum[l] / (1 << w.bits);
		for (uint32_t d = 0; d < r->ends; d++)
			load->byte_hops += w.hops[d] / (1 << w.bits);
	}
	loading_destroy(&w, threads);
	return rc;
}

int routers_load_direct(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return load_split(net, t, SPLIT_PATHS, threads, load);
}

int routers_load_ecmp(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return load_split(net, t, SPLIT_LINKS, threads, load);
}

int routers_load_indirect(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return load_split(net, t, SPLIT_INDIRECT, threads, load);
}
