/* SPDX-License-Identifier: BSD-3-Clause */
/* HyperX: routers at the points of a grid, and a link between any two that differ in one coordinate. Shortest paths
 * correct each coordinate by one hop, in any order. Indirect paths go to a random router, then on. One dimension is a
 * complete graph, and dimensions of two are a hypercube. (Ahn, Binkert, Davis, McLaren, Schreiber: "HyperX: Topology,
 * Routing, and Packaging of Efficient Large-Scale Networks", SC 2009; regular, one link between two routers.) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/base/rng.h"
#include "mapper/net/grid.h"
#include "mapper/net/hyperx.h"
#include "mapper/traffic/traffic.h"

#define HYPERX_DIMS_MAX 5 /* 120 orders in which a path may correct them */

struct hyperx {
	struct net net;
	struct grid grid;
	uint32_t hosts;			 /* nodes of a router */
	uint32_t ports;			 /* of a router to others, and void ones to itself */
	uint32_t first[HYPERX_DIMS_MAX]; /* port to coordinate 0 of each dimension */
};

/* Link 0 is void. Then come the ports of router 0: to each coordinate of the first dimension, of the second, and so
 * on. The port to the router's own coordinate is void. */
static uint32_t link_of(const struct hyperx *h, uint32_t router, unsigned dim, uint32_t coordinate)
{
	return 1 + router * h->ports + h->first[dim] + coordinate;
}

/* The router at that coordinate of a dimension, the others being those of `router`. */
static uint32_t moved(const struct grid *g, uint32_t router, unsigned dim, uint32_t coordinate)
{
	return router + (coordinate - grid_coordinate(g, router, dim)) * g->stride[dim];
}

static void hyperx_destroy(struct net *net)
{
	net_fini(net);
	free(net);
}

static int shape_read(struct hyperx *h, struct spec *spec, struct zerr *err)
{
	int rc = grid_read(&h->grid, spec, "8x8", HYPERX_DIMS_MAX, 4, err);
	uint64_t ports = 0;

	for (unsigned i = 0; i < h->grid.ndims && !rc; i++) {
		h->first[i] = (uint32_t)ports;
		ports += h->grid.size[i];
		h->net.direct_slots += h->grid.size[i] > 1;
	}
	if (!rc && h->grid.routers * ports > UINT32_MAX / 4)
		return zerr_set(err, -EINVAL, "%s: a hyperx of that size is out of range", spec->where);
	h->ports = (uint32_t)ports;
	h->net.direct_slots += !h->net.direct_slots;
	h->net.indirect_slots = 2 * h->net.direct_slots;
	return rc;
}

static void links_set(struct hyperx *h, double bandwidth)
{
	for (uint32_t r = 0; r < h->grid.routers; r++)
		for (unsigned i = 0; i < h->grid.ndims; i++)
			for (uint32_t x = 0; x < h->grid.size[i]; x++)
				if (x != grid_coordinate(&h->grid, r, i))
					net_set_link(&h->net, link_of(h, r, i, x), NET_HYPERX, bandwidth);
}

static int hyperx_create(struct spec_list *list, const struct net_ops *const *table, struct net **out, struct zerr *err)
{
	struct spec *spec = list->specs;
	struct hyperx *h = calloc(1, sizeof(*h));
	struct net *net = &h->net;
	uint64_t bandwidth;
	int rc;

	(void)table;
	*out = NULL;
	if (!h)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if ((rc = shape_read(h, spec, err)) || (rc = spec_u32(spec, "node", 1, 1, 4096, &h->hosts, err)) ||
		(rc = spec_u32(spec, "core", 1, 1, 65535, &net->cores, err)) ||
		(rc = spec_u64(spec, "bandwidth", 5120ull << 20, 1, UINT64_MAX, &bandwidth, err)))
		goto err_free;
	if ((uint64_t)h->grid.routers * h->hosts > UINT32_MAX / 4) {
		rc = zerr_set(err, -EINVAL, "%s: a hyperx of that size is out of range", spec->where);
		goto err_free;
	}
	rc = net_init(net, &hyperx_ops, 1 + h->grid.routers * h->ports, err);
	if (rc)
		goto err_free;
	links_set(h, (double)bandwidth);
	grid_set_levels(&h->grid, net, h->hosts);
	*out = net;
	return 0;

err_free:
	hyperx_destroy(net);
	return rc;
}

static uint32_t hyperx_point(const struct net *net, uint32_t node)
{
	return node / ((const struct hyperx *)net)->hosts;
}

/* --- paths --- */

/* The dimensions in which two routers differ. Returns their number. */
static unsigned dims_differ(const struct grid *g, uint32_t s, uint32_t d, unsigned *dims)
{
	unsigned n = 0;

	for (unsigned i = 0; i < g->ndims; i++)
		if (grid_coordinate(g, s, i) != grid_coordinate(g, d, i))
			dims[n++] = i;
	return n;
}

static uint32_t factorial(unsigned n)
{
	return n > 1 ? n * factorial(n - 1) : 1;
}

static uint32_t hyperx_direct_count(const struct net *net, uint32_t s, uint32_t d)
{
	unsigned dims[HYPERX_DIMS_MAX];

	return factorial(dims_differ(&((const struct hyperx *)net)->grid, s, d, dims));
}

/* k numbers the orders: modulo n it says which of the n dimensions comes first, and so on with the others. */
static void hyperx_direct(const struct net *net, uint32_t s, uint32_t d, uint32_t k, uint32_t *link)
{
	const struct hyperx *h = (const struct hyperx *)net;
	uint32_t *end = link + net->direct_slots;
	unsigned dims[HYPERX_DIMS_MAX];

	for (unsigned n = dims_differ(&h->grid, s, d, dims); n; n--) {
		unsigned pick = k % n, dim = dims[pick];
		uint32_t to = grid_coordinate(&h->grid, d, dim);

		*link++ = link_of(h, s, dim, to);
		s = moved(&h->grid, s, dim, to);
		k /= n;
		memmove(&dims[pick], &dims[pick + 1], (n - pick - 1) * sizeof(*dims));
	}
	while (link < end)
		*link++ = NET_VOID;
}

/* One of the shortest paths by 16 random bits. */
static void path_draw(const struct net *net, uint32_t s, uint32_t d, uint32_t bits, uint32_t *link)
{
	hyperx_direct(net, s, d, bits * hyperx_direct_count(net, s, d) >> 16, link);
}

static void hyperx_indirect(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link)
{
	uint32_t via = rng_below((uint32_t)(bits >> 32), net->points);

	path_draw(net, s, via, (uint32_t)bits & 0xffff, link);
	path_draw(net, via, d, (uint32_t)bits >> 16, link + net->direct_slots);
}

/* --- expectation over all intermediate routers --- */

/*
 * Loads the links of a dimension for the orders in which one set of the others comes before it.
 *
 * Let a path correct all dimensions in a random order, with no hop where it differs in none. On the way to a random
 * router, bytes reach router r before they change dimension `dim` if they agree with r in the dimensions that come
 * later. In the earlier ones they are spread evenly: out[r] is their average over those. Of them one in `size` goes on
 * to each coordinate. The way from the random router to the destination is the same backwards, with in[] of the router
 * behind the link, averaged over the dimensions that come later. weight: the fraction of all orders.
 */
static void dimension_load(const struct hyperx *h, const double *out, const double *in, unsigned dim, double weight,
	double *bytes)
{
	const struct grid *g = &h->grid;
	double share = weight / g->size[dim];

	for (uint32_t r = 0; r < g->routers; r++)
		for (uint32_t x = 0; x < g->size[dim]; x++)
			if (x != grid_coordinate(g, r, dim))
				bytes[link_of(h, r, dim, x)] += share * (out[r] + in[moved(g, r, dim, x)]);
}

/* Loads the links of all dimensions that are not in the set. work: for 2 x routers numbers. */
static void set_load(const struct hyperx *h, unsigned set, const double *sent, const double *received, double *work,
	double *bytes)
{
	const struct grid *g = &h->grid;
	unsigned n = (unsigned)__builtin_popcount(set);
	double *in = work + g->routers;

	memcpy(work, sent, g->routers * sizeof(*sent));
	memcpy(in, received, g->routers * sizeof(*received));
	for (unsigned i = 0; i < g->ndims; i++)
		if (set >> i & 1) {
			grid_average(g, work, i);
			grid_average(g, in, i);
		}
	for (unsigned i = 0; i < g->ndims; i++)
		if (!(set >> i & 1))
			dimension_load(h, work, in, i,
				(double)(factorial(n) * factorial(g->ndims - 1 - n)) / factorial(g->ndims), bytes);
}

static int hyperx_load_indirect(const struct net *net, const struct traffic *traffic, unsigned threads,
	struct net_load *load)
{
	const struct hyperx *h = (const struct hyperx *)net;
	double *sent = calloc(4 * (size_t)net->points, sizeof(*sent)), *received = sent + net->points;

	(void)threads; /* the messages are read once; the rest is little */
	if (!sent)
		return -ENOMEM;
	net_sum_ends(traffic, sent, received);
	for (unsigned set = 0; set < 1u << h->grid.ndims; set++)
		set_load(h, set, sent, received, received + net->points, load->bytes);
	for (unsigned i = 0; i < h->grid.ndims; i++)
		load->byte_hops += 2 * (1 - 1.0 / h->grid.size[i]) * (double)traffic->bytes;
	free(sent);
	return 0;
}

/* "0.3>0.5": from the router at 0, 3 to the one at 0, 5. */
static void hyperx_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct hyperx *h = (const struct hyperx *)net;
	uint32_t router = (link - 1) / h->ports, port = (link - 1) % h->ports;
	unsigned dim = h->grid.ndims - 1;
	size_t n = grid_name(&h->grid, router, buf, size);

	while (port < h->first[dim])
		dim--;
	if (n + 1 < size) {
		buf[n++] = '>';
		grid_name(&h->grid, moved(&h->grid, router, dim, port - h->first[dim]), buf + n, size - n);
	}
}

const struct net_ops hyperx_ops = {
	.name = "hyperx",
	.help = "hyperx:8x8 node:1 (of a router) core:1 bandwidth:5120M (of a link, each way)",
	.takes_value = true,
	.create = hyperx_create,
	.destroy = hyperx_destroy,
	.point = hyperx_point,
	.direct_count = hyperx_direct_count,
	.direct = hyperx_direct,
	.indirect = hyperx_indirect,
	.load_direct = net_load_enumerated,
	.load_ecmp = net_load_enumerated,
	.load_indirect = hyperx_load_indirect,
	.link_name = hyperx_link_name,
};
