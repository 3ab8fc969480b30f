/* SPDX-License-Identifier: BSD-3-Clause */
/* Slim Fly on the graphs of McKay, Miller and Siran, for prime powers q = 4 w + delta with delta = -1, 0 or 1: 2 q^2
 * routers of (3 q - delta) / 2 links, and a path of one or two hops between any two. Router (0, x, y) has links to
 * (0, x, y') if y' - y is in a set X; (1, m, c) to (1, m, c') if c' - c is in a set X'; and (0, x, y) to (1, m, c) if
 * y = m x + c, all in the field of q elements. (Besta, Hoefler: "Slim Fly: A Cost Effective Low-Diameter Network
 * Topology", SC 2014, section II.B. McKay, Miller, Siran: "A note on large graphs of diameter two and given maximum
 * degree", J. Comb. Theory B 74, 1998. Sets for delta = -1: Hafner, "Geometric realisation of the graphs of McKay-
 * Miller-Siran", J. Comb. Theory B 90, 2004.) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/net/routers_load.h"
#include "mapper/net/slimfly.h"

#define Q_MAX 73u /* 10,658 routers */

/* The field of q = p^digits elements. An element is a number with digits to base p, the coefficients of a polynomial.
 * All except 0 are powers of one of them. */
struct field {
	uint32_t p, digits, q;
	uint32_t power[Q_MAX], log[Q_MAX]; /* power[0..q-2] */
};

struct slimfly {
	struct routers_net begin;
	uint32_t q, hosts; /* nodes of a router */
};

/* --- the field --- */

static uint32_t field_add(const struct field *f, uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (uint32_t unit = 1; unit < f->q; unit *= f->p)
		sum += (a / unit + b / unit) % f->p * unit;
	return sum;
}

static uint32_t field_times(const struct field *f, uint32_t a, uint32_t b)
{
	return a && b ? f->power[(f->log[a] + f->log[b]) % (f->q - 1)] : 0;
}

static uint32_t field_minus(const struct field *f, uint32_t a)
{
	uint32_t minus = 0;

	for (uint32_t unit = 1; unit < f->q; unit *= f->p)
		minus += (f->p - a / unit % f->p) % f->p * unit;
	return minus;
}

/* The product with the element that is tried as root. Where q is a prime this is a number `root`. Else it is the
 * polynomial x, and `root` is what x^digits is. */
static uint32_t root_times(const struct field *f, uint32_t root, uint32_t a)
{
	uint32_t top = f->q / f->p, product = a % top * f->p;

	if (f->digits == 1)
		return a * root % f->p;
	for (uint32_t i = 0; i < a / top; i++)
		product = field_add(f, product, root);
	return product;
}

/* Are the powers of this root all elements except 0? Then every such element has an inverse, and it is a field. */
static bool root_fits(struct field *f, uint32_t root)
{
	uint32_t a = 1;

	for (uint32_t i = 0; i < f->q - 1; i++) {
		if (!a || (i && a == 1))
			return false;
		f->power[i] = a;
		f->log[a] = i;
		a = root_times(f, root, a);
	}
	return a == 1;
}

static int field_make(struct field *f, uint32_t q)
{
	uint32_t root = 1, rest = q;

	*f = (struct field){.p = 2, .q = q};
	while (q % f->p)
		f->p++;
	for (; rest % f->p == 0; rest /= f->p)
		f->digits++;
	if (rest > 1 || q % 4 == 2)
		return -EINVAL;
	while (!root_fits(f, root))
		root++;
	return 0;
}

/* --- routers and links --- */

/* The sets X and X', as lists of powers of the root. Returns how many elements each has. */
static uint32_t sets_make(const struct field *f, bool in[2][Q_MAX])
{
	uint32_t q = f->q, half = q / 2 + (q % 4 == 3);

	for (uint32_t i = 0; i < half; i++) {
		/* the even powers and the odd ones; with delta = -1 the parity changes in the middle */
		uint32_t even = q % 4 == 3 && i >= half / 2 ? 2 * i - 1 : 2 * i;

		in[0][f->power[even % (q - 1)]] = true;
		in[1][f->power[(even + 1) % (q - 1)]] = true;
	}
	return half;
}

static void links_list(const struct field *f, bool in[2][Q_MAX], double bandwidth, struct routers_link *link)
{
	uint32_t q = f->q;

	for (uint32_t r = 0; r < 2 * q * q; r++) {
		uint32_t side = r / (q * q), x = r / q % q, y = r % q, base = r - y;

		for (uint32_t z = 0; z < q; z++)
			if (in[side][field_add(f, z, field_minus(f, y))])
				*link++ = (struct routers_link){r, base + z, bandwidth};
		/* from (0, x, y) to (1, m, y - m x), or from (1, m, c) to (0, x, m x + c) */
		for (uint32_t m = 0; m < q; m++) {
			uint32_t product = field_times(f, x, m), end = side ? product : field_minus(f, product);

			*link++ =
				(struct routers_link){r, (1 - side) * q * q + m * q + field_add(f, y, end), bandwidth};
		}
	}
}

static int routers_create(struct slimfly *s, const struct field *f, double bandwidth, uint32_t *degree,
	struct zerr *err)
{
	uint32_t n = 2 * f->q * f->q, pair[2];
	bool in[2][Q_MAX] = {{false}};
	struct routers_link *link;

	*degree = f->q + sets_make(f, in);
	link = malloc((size_t)n * *degree * sizeof(*link));
	if (!link)
		return zerr_set(err, -ENOMEM, "not enough memory");
	links_list(f, in, bandwidth, link);
	if (routers_make(&s->begin.routers, n, n, link, n * *degree, pair))
		return zerr_set(err, -ENOMEM, "not enough memory for %u routers", n);
	return 0;
}

static void slimfly_destroy(struct net *net)
{
	struct slimfly *s = (struct slimfly *)net;

	routers_free(&s->begin.routers);
	net_fini(net);
	free(s);
}

static int slimfly_create(struct spec_list *list, const struct net_ops *const *table, struct net **out,
	struct zerr *err)
{
	struct spec *spec = list->specs;
	struct slimfly *s = calloc(1, sizeof(*s));
	struct net *net = &s->begin.net;
	struct field f;
	uint64_t bandwidth;
	uint32_t degree;
	int rc;

	(void)table;
	*out = NULL;
	if (!s)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if ((rc = spec_u32(spec, "q", 19, 3, Q_MAX, &s->q, err)) ||
		(rc = spec_u32(spec, "core", 1, 1, 65535, &net->cores, err)) ||
		(rc = spec_u64(spec, "bandwidth", 5120ull << 20, 1, UINT64_MAX, &bandwidth, err)))
		goto err_free;
	if (field_make(&f, s->q)) {
		rc = zerr_set(err, -EINVAL, "%s: q: %u is not the power of a prime", spec->where, s->q);
		goto err_free;
	}
	if ((rc = routers_create(s, &f, (double)bandwidth, &degree, err)) ||
		(rc = spec_u32(spec, "node", (degree + 1) / 2, 1, 4096, &s->hosts, err)) ||
		(rc = routers_init_net(&s->begin, &slimfly_ops, NET_PEER, err)))
		goto err_free;
	net->nodes = net->points * s->hosts;
	net->level[NET_NODE] = 1;
	net->level[NET_ROUTER] = s->hosts;
	net->level[NET_CHASSIS] = net->level[NET_GROUP] = s->hosts * s->q;
	*out = net;
	return 0;

err_free:
	slimfly_destroy(net);
	return rc;
}

static uint32_t slimfly_point(const struct net *net, uint32_t node)
{
	return node / ((const struct slimfly *)net)->hosts;
}

/* --- names --- */

/* "0.3.2>1.0.4": from router (0, 3, 2) to router (1, 0, 4). */
static void slimfly_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct slimfly *s = (const struct slimfly *)net;
	const struct routers_link *l = &s->begin.routers.link[link - 1];
	uint32_t q = s->q;

	snprintf(buf, size, "%u.%u.%u>%u.%u.%u", l->from / (q * q), l->from / q % q, l->from % q, l->to / (q * q),
		l->to / q % q, l->to % q);
}

const struct net_ops slimfly_ops = {
	.name = "slimfly",
	.help = "q:19 (a prime power: 2 q^2 routers) node:15 (of a router; default: half as many as its links)\n"
		"core:1 bandwidth:5120M (of a link, each way)",
	.create = slimfly_create,
	.destroy = slimfly_destroy,
	.point = slimfly_point,
	.direct_count = routers_direct_count,
	.direct = routers_direct,
	.single = routers_single,
	.indirect = routers_indirect,
	.load_direct = routers_load_direct,
	.load_ecmp = routers_load_ecmp,
	.load_indirect = routers_load_indirect,
	.link_name = slimfly_link_name,
};
