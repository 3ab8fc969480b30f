/* SPDX-License-Identifier: BSD-3-Clause */
/* Tori, and rings: each router has two links in every dimension, one for each direction. Shortest paths correct the
 * first dimension, then the second, and so on, as deterministic routers do. Where both directions around a dimension
 * are equally long, either may be taken, independently of other dimensions. Indirect paths go to a random router, then
 * on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/net/grid.h"
#include "mapper/net/torus.h"
#include "mapper/base/rng.h"
#include "mapper/traffic/traffic.h"

struct torus {
	struct net net;
	struct grid grid;
	uint32_t hosts; /* nodes of a router */
};

/* Link 0 is void. Then come the links of router 0: up and down in the first dimension, up and down in the second, and
 * so on. */
static uint32_t link_of(const struct torus *t, uint32_t router, unsigned dim, unsigned down)
{
	return 1 + 2 * (router * t->grid.ndims + dim) + down;
}

static void torus_destroy(struct net *net)
{
	net_fini(net);
	free(net);
}

static int shape_read(struct torus *t, struct spec *spec, struct zerr *err)
{
	int rc = grid_read(&t->grid, spec, "8x8x8", GRID_DIMS_MAX, 4 * GRID_DIMS_MAX, err);
	uint32_t hops = 0;

	for (unsigned i = 0; i < t->grid.ndims && !rc; i++)
		hops += t->grid.size[i] / 2;
	if (!rc && 2 * hops > NET_SLOTS_MAX)
		return zerr_set(err, -EINVAL, "%s: shortest paths of %u hops; the limit is %u", spec->where, hops,
			NET_SLOTS_MAX / 2);
	t->net.direct_slots = hops ? hops : 1;
	t->net.indirect_slots = 2 * t->net.direct_slots;
	return rc;
}

static int torus_create(struct spec_list *list, const struct net_ops *const *table, struct net **out, struct zerr *err)
{
	struct spec *spec = list->specs;
	struct torus *t = calloc(1, sizeof(*t));
	struct net *net = &t->net;
	const struct grid *g = &t->grid;
	uint64_t bandwidth;
	int rc;

	(void)table;
	*out = NULL;
	if (!t)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if ((rc = shape_read(t, spec, err)) || (rc = spec_u32(spec, "node", 1, 1, 4096, &t->hosts, err)) ||
		(rc = spec_u32(spec, "core", 1, 1, 65535, &net->cores, err)) ||
		(rc = spec_u64(spec, "bandwidth", 5120ull << 20, 1, UINT64_MAX, &bandwidth, err)))
		goto err_free;
	if ((uint64_t)g->routers * t->hosts > UINT32_MAX / 4) {
		rc = zerr_set(err, -EINVAL, "%s: a torus of that size is out of range", spec->where);
		goto err_free;
	}
	rc = net_init(net, &torus_ops, 1 + 2 * g->routers * g->ndims, err);
	if (rc)
		goto err_free;
	for (uint32_t r = 0; r < g->routers; r++)
		for (unsigned i = 0; i < 2 * g->ndims; i++)
			if (g->size[i / 2] > 1)
				net_set_link(net, link_of(t, r, i / 2, i % 2), NET_TORUS, (double)bandwidth);
	grid_set_levels(g, net, t->hosts);
	*out = net;
	return 0;

err_free:
	torus_destroy(net);
	return rc;
}

static uint32_t torus_point(const struct net *net, uint32_t node)
{
	return node / ((const struct torus *)net)->hosts;
}

/* Steps up from one coordinate to another, 0..size-1. */
static uint32_t steps_up(uint32_t from, uint32_t to, uint32_t size)
{
	return to >= from ? to - from : to + size - from;
}

static uint32_t torus_direct_count(const struct net *net, uint32_t s, uint32_t d)
{
	const struct torus *t = (const struct torus *)net;
	uint32_t count = 1;

	for (unsigned i = 0; i < t->grid.ndims; i++)
		count <<= 2 * steps_up(grid_coordinate(&t->grid, s, i), grid_coordinate(&t->grid, d, i),
				      t->grid.size[i]) ==
			  t->grid.size[i];
	return count;
}

/* k has a bit for each dimension in which both directions are equally long; 1 is down. Further bits of k may be random.
 */
static void torus_direct(const struct net *net, uint32_t s, uint32_t d, uint32_t k, uint32_t *link)
{
	const struct torus *t = (const struct torus *)net;
	uint32_t *end = link + net->direct_slots;

	for (unsigned i = 0; i < t->grid.ndims; i++) {
		uint32_t size = t->grid.size[i], stride = t->grid.stride[i], at = grid_coordinate(&t->grid, s, i),
			 to = grid_coordinate(&t->grid, d, i);
		uint32_t up = steps_up(at, to, size), down = 2 * up > size;

		if (2 * up == size) {
			down = k & 1;
			k >>= 1;
		}
		while (at != to) {
			*link++ = link_of(t, s, i, down);
			if (down) {
				s += at ? -stride : (size - 1) * stride;
				at = (at ? at : size) - 1;
			} else {
				s += at + 1 < size ? stride : -at * stride;
				at = at + 1 < size ? at + 1 : 0;
			}
		}
	}
	while (link < end)
		*link++ = NET_VOID;
}

static void torus_indirect(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link)
{
	uint32_t via = rng_below((uint32_t)(bits >> 32), net->points);

	torus_direct(net, s, via, (uint32_t)bits & 0xffff, link);
	torus_direct(net, via, d, (uint32_t)bits >> 16, link + net->direct_slots);
}

/* --- expectation over all intermediate routers --- */

/* The number of coordinates at which a router that is `behind` steps away, or one beyond, is reached in one direction.
 * Where both directions are equally long, half of them count. */
static double beyond(uint32_t size, uint32_t behind)
{
	double n = behind <= (size - 1) / 2 ? (size - 1) / 2 + 1 - behind : 0;

	return n + (size % 2 == 0 && behind <= size / 2 ? 0.5 : 0);
}

/* Loads the links of a dimension, if value[r] bytes are on their way from each router to a uniformly drawn coordinate
 * (out), or from such a coordinate to the router (else). A link up is crossed by bytes that start at it or behind it
 * and go on beyond it; and by bytes that come from behind and go to routers ahead. A link down likewise. */
static void lines_load(const struct torus *t, const double *value, unsigned dim, bool out, double *bytes)
{
	uint32_t size = t->grid.size[dim], reach = size / 2;

	for (uint32_t r = 0; r < t->net.points && size > 1; r++) {
		uint32_t at = grid_coordinate(&t->grid, r, dim), line = r - at * t->grid.stride[dim];

		for (uint32_t away = 1; away <= reach; away++) {
			uint32_t back = out ? away - 1 : size - away; /* against the direction of the link */
			double share = beyond(size, away) / size;

			bytes[link_of(t, r, dim, 0)] +=
				share * value[line + (at + size - back) % size * t->grid.stride[dim]];
			bytes[link_of(t, r, dim, 1)] += share * value[line + (at + back) % size * t->grid.stride[dim]];
		}
	}
}

static int torus_load_indirect(const struct net *net, const struct traffic *traffic, unsigned threads,
	struct net_load *load)
{
	const struct torus *t = (const struct torus *)net;
	double *sent = calloc(net->points, sizeof(*sent)), *received = calloc(net->points, sizeof(*received)), hops = 0;
	int rc = -ENOMEM;

	(void)threads; /* the messages are read once; the rest is little */
	if (!sent || !received)
		goto out;
	net_sum_ends(traffic, sent, received);
	/* On the way to the intermediate router, the dimensions behind are spread out. On the way from it, the
	 * dimensions ahead are. */
	for (unsigned i = 0; i < t->grid.ndims; i++) {
		lines_load(t, sent, i, true, load->bytes);
		grid_average(&t->grid, sent, i);
		for (uint32_t x = 0; x < t->grid.size[i]; x++)
			hops += (double)(x < t->grid.size[i] - x ? x : t->grid.size[i] - x) / t->grid.size[i];
	}
	for (unsigned i = t->grid.ndims; i-- > 0;) {
		lines_load(t, received, i, false, load->bytes);
		grid_average(&t->grid, received, i);
	}
	load->byte_hops += 2 * hops * (double)traffic->bytes;
	rc = 0;
out:
	free(sent);
	free(received);
	return rc;
}

/* "0.3.2+1": from the router at 0, 3, 2 up dimension 1, the first dimension being 0. */
static void torus_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct torus *t = (const struct torus *)net;
	uint32_t router = (link - 1) / 2 / t->grid.ndims, dim = (link - 1) / 2 % t->grid.ndims;
	size_t n = grid_name(&t->grid, router, buf, size);

	if (n < size)
		snprintf(buf + n, size - n, "%c%u", (link - 1) % 2 ? '-' : '+', dim);
}

const struct net_ops torus_ops = {
	.name = "torus",
	.help = "torus:8x8x8 node:1 (of a router) core:1 bandwidth:5120M (of a link, each way)",
	.takes_value = true,
	.create = torus_create,
	.destroy = torus_destroy,
	.point = torus_point,
	.direct_count = torus_direct_count,
	.direct = torus_direct,
	.indirect = torus_indirect,
	.load_direct = net_load_enumerated,
	.load_ecmp = net_load_enumerated,
	.load_indirect = torus_load_indirect,
	.link_name = torus_link_name,
};
