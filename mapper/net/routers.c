/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances by a search from each end, and paths by the numbers of paths that are left, see routers.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/base/rng.h"
#include "mapper/net/routers.h"

#define FAR UINT8_MAX

static int link_compare(const void *x, const void *y)
{
	const struct routers_link *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->bandwidth < b->bandwidth) - (a->bandwidth > b->bandwidth);
}

/* A breadth-first search from end d, against the direction of links: each cable has both. Adds up the shortest paths.
 * queue: [n]. */
static int end_search(struct routers *r, uint32_t d, uint32_t *queue, uint32_t pair[2])
{
	uint8_t *hops = r->hops + (size_t)d * r->n;
	uint32_t *ways = r->ways + (size_t)d * r->n, count = 1;

	pair[1] = d;
	memset(hops, FAR, r->n);
	queue[0] = d;
	hops[d] = 0;
	ways[d] = 1;
	for (uint32_t at = 0; at < count; at++) {
		uint32_t v = queue[at];
		bool last = count == r->n && hops[v] == hops[queue[count - 1]]; /* nothing is behind */

		pair[0] = v;
		if (ways[v] > ROUTERS_WAYS_MAX || hops[v] > ROUTERS_HOPS_MAX)
			return -ERANGE;
		for (uint32_t l = r->first[v]; l < r->first[v + 1] && !last; l++) {
			uint32_t u = r->link[l].to;
			uint64_t sum = (uint64_t)ways[u] + ways[v];

			if (hops[u] == FAR) {
				hops[u] = (uint8_t)(hops[v] + 1);
				queue[count++] = u;
			}
			if (hops[u] == hops[v] + 1)
				ways[u] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
		}
	}
	if (hops[queue[count - 1]] > r->diameter)
		r->diameter = hops[queue[count - 1]];
	for (pair[0] = 0; pair[0] < r->n; pair[0]++)
		if (hops[pair[0]] == FAR)
			return -ENETUNREACH;
	return 0;
}

int routers_make(struct routers *r, uint32_t n, uint32_t ends, struct routers_link *link, uint32_t links,
	uint32_t pair[2])
{
	size_t cells = (size_t)n * ends;
	uint32_t *queue = malloc(n * sizeof(*queue));
	int rc = 0;

	*r = (struct routers){.n = n, .ends = ends, .link = link, .links = links, .diameter = 1};
	r->first = calloc((size_t)n + 1, sizeof(*r->first));
	r->hops = malloc(cells);
	r->ways = calloc(cells, sizeof(*r->ways));
	if (!queue || !r->first || !r->hops || !r->ways) {
		free(queue);
		return -ENOMEM;
	}
	qsort(link, links, sizeof(*link), link_compare);
	for (uint32_t l = 0; l < links; l++)
		r->first[link[l].from + 1]++;
	for (uint32_t v = 0; v < n; v++)
		r->first[v + 1] += r->first[v];
	for (uint32_t d = 0; d < ends && !rc; d++)
		rc = end_search(r, d, queue, pair);
	free(queue);
	return rc;
}

void routers_free(struct routers *r)
{
	free(r->link);
	free(r->first);
	free(r->hops);
	free(r->ways);
}

int routers_init_net(struct routers_net *n, const struct net_ops *ops, enum net_class class, struct zerr *err)
{
	const struct routers *r = &n->routers;
	struct net *net = &n->net;
	int rc = net_init(net, ops, r->links + 1, err);

	if (rc)
		return rc;
	for (uint32_t l = 0; l < r->links; l++)
		net_set_link(net, l + 1, class, r->link[l].bandwidth);
	net->points = r->ends;
	net->direct_slots = r->diameter;
	net->indirect_slots = 2 * r->diameter;
	return 0;
}

/* --- paths --- */

/* Does a link lead on towards end d, on a shortest path? */
static bool leads_on(const struct routers *r, uint32_t link, uint32_t d)
{
	const uint8_t *hops = r->hops + (size_t)d * r->n;

	return hops[r->link[link].to] + 1 == hops[r->link[link].from];
}

static const struct routers *of_net(const struct net *net)
{
	return &((const struct routers_net *)net)->routers;
}

uint32_t routers_direct_count(const struct net *net, uint32_t s, uint32_t d)
{
	const struct routers *r = of_net(net);

	return r->ways[(size_t)d * r->n + s];
}

void routers_direct(const struct net *net, uint32_t s, uint32_t d, uint32_t k, uint32_t *link)
{
	const struct routers *r = of_net(net);
	const uint32_t *ways = r->ways + (size_t)d * r->n;
	uint32_t *end = link + r->diameter;

	while (s != d) {
		uint32_t l = r->first[s];

		for (; !leads_on(r, l, d) || k >= ways[r->link[l].to]; l++)
			k -= leads_on(r, l, d) ? ways[r->link[l].to] : 0;
		*link++ = l + 1;
		s = r->link[l].to;
	}
	while (link < end)
		*link++ = NET_VOID;
}

uint32_t routers_single(const struct net *net, uint32_t s, uint32_t d)
{
	const struct routers *r = of_net(net);
	const uint32_t *ways = r->ways + (size_t)d * r->n;
	uint32_t k = 0;

	while (s != d) {
		uint32_t n = 0, l = r->first[s];

		for (uint32_t i = l; i < r->first[s + 1]; i++)
			n += leads_on(r, i, d);
		for (n = d % n; n || !leads_on(r, l, d); l++)
			if (leads_on(r, l, d)) {
				k += ways[r->link[l].to];
				n--;
			}
		s = r->link[l].to;
	}
	return k;
}

/* One of the shortest paths by 16 random bits. */
static void path_draw(const struct net *net, uint32_t s, uint32_t d, uint32_t bits, uint32_t *link)
{
	routers_direct(net, s, d, (uint32_t)((uint64_t)bits * routers_direct_count(net, s, d) >> 16), link);
}

void routers_indirect(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link)
{
	uint32_t via = rng_below((uint32_t)(bits >> 32), net->points);

	path_draw(net, s, via, (uint32_t)bits & 0xffff, link);
	path_draw(net, via, d, (uint32_t)bits >> 16, link + net->direct_slots);
}
