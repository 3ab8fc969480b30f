/* SPDX-License-Identifier: BSD-3-Clause */
/* The network model on machines small enough to work out by hand, and what must hold on any. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "joined.h"
#include "model.h"
#include "stats.h"

struct message {
	uint32_t src, dst;
	uint64_t bytes;
};

static double *predict(const struct net *net, const char *routing, const struct message *m, size_t n,
	const struct model_opts *opts)
{
	uint32_t src[64], dst[64];
	uint64_t bytes[64];
	struct model_result r;
	struct traffic t;
	struct model_flow flow = {routing_find(routing), &t};
	struct zerr err = {""};

	assert_true(n <= 64);
	for (size_t i = 0; i < n; i++) {
		src[i] = m[i].src;
		dst[i] = m[i].dst;
		bytes[i] = m[i].bytes;
	}
	assert_int_equal(traffic_build_list(&t, net->points, n, src, dst, bytes, &err), 0);
	if (model_predict(net, &flow, 1, opts, &r, &err))
		fail_msg("%s", err.text);
	traffic_free(&t);
	return r.load;
}

static double load_of(const struct net *net, const double *load, const char *name)
{
	char buf[64];

	for (uint32_t l = 0; l < net->links; l++) {
		if (net->link_class[l] == NET_NONE)
			continue;
		net->ops->link_name(net, l, buf, sizeof(buf));
		if (!strcmp(buf, name))
			return load[l];
	}
	fail_msg("no link %s", name);
	return 0;
}

static struct net *net_of(const char *text)
{
	struct zerr err = {""};
	struct net *net;

	if (net_create(text, &net, &err))
		fail_msg("%s", err.text);
	return net;
}

struct expected {
	const char *link;
	double bytes;
};

/* The links named carry that, all others nothing. */
static void check(const char *network, const char *routing, const struct message *m, size_t n, const struct expected *e,
	size_t links)
{
	struct net *net = net_of(network);
	struct model_opts opts;
	double *load, all = 0, named = 0;

	model_defaults(&opts);
	load = predict(net, routing, m, n, &opts);
	for (size_t i = 0; i < links; i++) {
		double found = load_of(net, load, e[i].link);

		if (found < e[i].bytes - 0.01 || found > e[i].bytes + 0.01)
			fail_msg("%s on %s: %s carries %g, not %g", routing, network, e[i].link, found, e[i].bytes);
		named += found;
	}
	for (uint32_t l = 0; l < net->links; l++)
		all += load[l];
	assert_true(all - named < 0.01);
	free(load);
	net_destroy(net);
}

#define CHECK(network, routing, messages, expected)                                                                    \
	check(network, routing, messages, sizeof(messages) / sizeof((messages)[0]), expected,                          \
		sizeof(expected) / sizeof((expected)[0]))

/* Two groups of two routers. modulo: the gate of group 0 to group 1 is router 1, of group 1 to group 0 router 0; the
 * cable ends at these two. */
static void gates_modulo(void **state)
{
	static const struct message m[] = {{0, 3, 100}, {1, 2, 7}};
	static const struct expected e[] = {{"g0.c0.r0>g0.c0.r1", 100}, {"g0.c0.r1.p0>g1.c0.r0", 107},
		{"g1.c0.r0>g1.c0.r1", 100}};

	(void)state;
	CHECK("dragonfly group:2 chassis:1 router:2 node:1", "SD", m, e);
}

/* As many bytes as a prediction takes, on one link. */
static void very_many_bytes(void **state)
{
	static const struct message m[] = {{0, 1, UINT64_C(1) << 52}}, half[] = {{0, 2, UINT64_C(1) << 49}};
	static const struct expected x[] = {{"n0>x", 0x1p52}, {"x>n1", 0x1p52}}, r[] = {{"0+0", 0x1p52}},
				     tree[] = {{"l0.s0.0>p0", 0x1p49}, {"l1.s0.0>p0", 0x1p48}, {"l1.s0.0>p1", 0x1p48},
					     {"l1.s1.0<p0", 0x1p48}, {"l1.s1.0<p1", 0x1p48}, {"l0.s2.0<p0", 0x1p49}};

	(void)state;
	CHECK("crossbar node:2", "SD", m, x);
	CHECK("crossbar node:2", "SI", m, x);
	CHECK("torus:4", "SD", m, r);
	CHECK("fattree arity:2 levels:2", "SD", half, tree);
}

/* The same machine, consecutive: each group has one link, at router 0. */
static void gates_consecutive(void **state)
{
	static const struct message m[] = {{1, 3, 100}};
	static const struct expected e[] = {{"g0.c0.r1>g0.c0.r0", 100}, {"g0.c0.r0.p0>g1.c0.r0", 100},
		{"g1.c0.r0>g1.c0.r1", 100}};

	(void)state;
	CHECK("dragonfly group:2 chassis:1 router:2 node:1 wiring:consecutive", "SD", m, e);
}

/* From corner to corner of 2 x 2 routers: half each way. */
static void corner(void **state)
{
	static const struct message m[] = {{0, 3, 101}};
	static const struct expected e[] = {{"g0.c0.r0>g0.c0.r1", 50.5}, {"g0.c0.r1>g0.c1.r1", 50.5},
		{"g0.c0.r0>g0.c1.r0", 50.5}, {"g0.c1.r0>g0.c1.r1", 50.5}};

	(void)state;
	CHECK("dragonfly group:1 chassis:2 router:2 node:1", "SD", m, e);
}

/*
 * The same, links of 100 bytes a second, and another message of 100 bytes on the first link. First iteration: the
 * corner message asks 50 on each way, the other 100. The link in common is asked for 150, so its availability is 2/3;
 * that of the other links is 2. The corner message gets 50 x 2/3 and 50 x 2 = 100, the other 66 2/3. Then both the
 * common link and the second way are full. Split: 1/4 and 3/4.
 */
static void corner_adaptive(void **state)
{
	static const struct message m[] = {{0, 3, 100}, {0, 1, 100}};
	static const struct expected e[] = {{"g0.c0.r0>g0.c0.r1", 125}, {"g0.c0.r1>g0.c1.r1", 25},
		{"g0.c0.r0>g0.c1.r0", 75}, {"g0.c1.r0>g0.c1.r1", 75}};

	(void)state;
	CHECK("dragonfly group:1 chassis:2 router:2 node:1 bandwidth:100", "AD", m, e);
}

/* Three routers: a third each over router 0 (itself), 1 (the destination), 2. */
static void triangle_indirect(void **state)
{
	static const struct message m[] = {{0, 1, 900}};
	static const struct expected e[] = {{"g0.c0.r0>g0.c0.r1", 600}, {"g0.c0.r0>g0.c0.r2", 300},
		{"g0.c0.r2>g0.c0.r1", 300}};

	(void)state;
	CHECK("dragonfly group:1 chassis:1 router:3 node:1", "SI", m, e);
}

/* Three groups of one router, rule "release": the group drawn is the source's, the destination's, or the third. */
static void release_indirect(void **state)
{
	static const struct message m[] = {{0, 1, 900}};
	static const struct expected e[] = {{"g0.c0.r0.p1>g1.c0.r0", 600}, {"g0.c0.r0.p2>g2.c0.r0", 300},
		{"g2.c0.r0.p1>g1.c0.r0", 300}};

	(void)state;
	CHECK("dragonfly group:3 chassis:1 router:1 node:1 intermediate:release", "SI", m, e);
}

/* Nodes with links of their own: points are nodes. */
static void node_links(void **state)
{
	static const struct message m[] = {{0, 1, 10}, {0, 2, 20}};
	static const struct expected e[] = {{"n0>g0.c0.r0", 30}, {"g0.c0.r0>n1", 10}, {"g0.c0.r1>n2", 20},
		{"g0.c0.r0>g0.c0.r1", 20}};

	(void)state;
	CHECK("dragonfly group:1 chassis:1 router:2 node:2 injection:10G", "SD", m, e);
	CHECK("dragonfly group:1 chassis:1 router:2 node:2 injection:10G", "AD", m, e);
}

static void crossbar(void **state)
{
	static const struct message m[] = {{0, 1, 10}, {2, 1, 20}};
	static const struct expected e[] = {{"n0>x", 10}, {"n2>x", 20}, {"x>n1", 30}};
	static const char *const routings[] = {"SD", "SI", "AD", "AI", "AH", "SIP"};

	(void)state;
	for (int i = 0; i < 6; i++)
		CHECK("crossbar node:3", routings[i], m, e);
}

/* Two leaf switches of two nodes, two roots: half over each. Indirect goes over the roots also where a leaf would do.
 */
static void fattree(void **state)
{
	static const struct message m[] = {{0, 3, 100}, {0, 1, 10}};
	static const struct expected e[] = {{"l0.s0.0>p0", 110}, {"l1.s0.0>p0", 50}, {"l1.s0.0>p1", 50},
		{"l1.s1.0<p0", 50}, {"l1.s1.0<p1", 50}, {"l0.s3.0<p0", 100}, {"l0.s1.0<p0", 10}};
	static const struct expected roots[] = {{"l0.s0.0>p0", 110}, {"l1.s0.0>p0", 55}, {"l1.s0.0>p1", 55},
		{"l1.s1.0<p0", 50}, {"l1.s1.0<p1", 50}, {"l1.s0.0<p0", 5}, {"l1.s0.0<p1", 5}, {"l0.s3.0<p0", 100},
		{"l0.s1.0<p0", 10}};

	(void)state;
	CHECK("fattree arity:2 levels:2", "SD", m, e);
	CHECK("fattree arity:2 levels:2", "AD", m, e);
	CHECK("fattree arity:2 levels:2", "SI", m, roots);
	CHECK("fattree down:2x2 up:1x2", "SD", m, e);
}

/* A ring of four: to the opposite router half goes each way. */
static void ring(void **state)
{
	static const struct message m[] = {{0, 1, 10}, {0, 2, 100}, {3, 1, 8}, {3, 2, 7}};
	static const struct expected e[] = {{"0+0", 64}, {"1+0", 50}, {"0-0", 50}, {"3-0", 61}, {"3+0", 4}, {"2-0", 4}};

	(void)state;
	CHECK("torus:4", "SD", m, e);
}

/* From 0, 0, 1 to 1, 2, 0: the first dimension first, each the short way. */
static void torus_order(void **state)
{
	static const struct message m[] = {{1, 15, 5}};
	static const struct expected e[] = {{"0.0.1+0", 5}, {"1.0.1-1", 5}, {"1.2.1-2", 5}};

	(void)state;
	CHECK("torus:3x3x3", "SD", m, e);
	CHECK("torus:3x3x3", "AD", m, e);
}

/* A ring of three: a third each over router 0 (itself), 1 (the destination), 2. */
static void ring_indirect(void **state)
{
	static const struct message m[] = {{0, 1, 900}};
	static const struct expected e[] = {{"0+0", 600}, {"0-0", 300}, {"2-0", 300}};

	(void)state;
	CHECK("torus:3", "SI", m, e);
}

/* Two crossbars of two nodes; a zipper at node 1 of each. Points 0, 1 are in A, 2, 3 in B. Node 1 of A is on the
 * zipper: what it sends to B is not forwarded. Between the two points of the zipper itself there is no link. */
static void zipper(void **state)
{
	static const struct message m[] = {{0, 2, 100}, {1, 2, 10}, {0, 3, 1}, {1, 3, 5}};
	static const struct expected e[] = {{"A:n0>x", 101}, {"A:x>n1", 101}, {"A>z", 101}, {"z:A>B", 100},
		{"z>B", 110}, {"B:n1>x", 110}, {"B:x>n0", 110}};
	static const char *const routings[] = {"SD", "SI", "AD", "AI", "AH", "SIP"};

	(void)state;
	for (int i = 0; i < 6; i++)
		CHECK("part:A crossbar node:2; part:B crossbar node:2; zipper:z A:1 B:1", routings[i], m, e);
}

/* Two zippers share evenly; adaptively, one of 100 bytes a second and one of 300 as their bandwidth allows. */
static void zippers_share(void **state)
{
	static const struct message m[] = {{0, 3, 400}};
	static const struct expected even[] = {{"A:n0>x", 400}, {"A:x>n1", 200}, {"A:x>n2", 200}, {"A>y", 200},
		{"A>z", 200}, {"y:A>B", 200}, {"z:A>B", 200}, {"y>B", 200}, {"z>B", 200}, {"B:n1>x", 200},
		{"B:n2>x", 200}, {"B:x>n0", 400}};
	static const struct expected fair[] = {{"A:n0>x", 400}, {"A:x>n1", 100}, {"A:x>n2", 300}, {"A>y", 100},
		{"A>z", 300}, {"y:A>B", 100}, {"z:A>B", 300}, {"y>B", 100}, {"z>B", 300}, {"B:n1>x", 100},
		{"B:n2>x", 300}, {"B:x>n0", 400}};

	(void)state;
	CHECK("part:A crossbar node:3; part:B crossbar node:3; zipper:y A:1 B:1; zipper:z A:2 B:2", "SD", m, even);
	CHECK("part:A crossbar node:3 bandwidth:4000; part:B crossbar node:3 bandwidth:4000; "
	      "zipper:y A:1 B:1 forward:100 port:4000; zipper:z A:2 B:2 forward:300 port:4000",
		"AD", m, fair);
}

/* How often each of the paths from s to d that there are by all zippers comes among those that there are now. */
static void paths_count(struct net *net, uint32_t s, uint32_t d, const unsigned *times, uint32_t n)
{
	uint32_t now[16][NET_SLOTS_MAX], link[NET_SLOTS_MAX], all = net->ops->direct_count(net, s, d), found = 0;

	assert_true(all <= 16);
	for (uint32_t k = 0; k < all; k++)
		net->ops->direct(net, s, d, k, now[k]);
	joined_forward_by((struct joined *)net, NULL);
	assert_int_equal(net->ops->direct_count(net, s, d), n);
	for (uint32_t k = 0; k < n; k++) {
		unsigned same = 0;

		net->ops->direct(net, s, d, k, link);
		for (uint32_t i = 0; i < all; i++)
			same += !memcmp(now[i], link, net->direct_slots * sizeof(*link));
		assert_int_equal(same, times[k]);
		found += same;
	}
	assert_int_equal(found, all);
}

/* Two paths to one zipper, four to another: those that carry a job are as likely as each other, whatever is drawn; a
 * third one that does not carry it is not used. */
static void zippers_carry(void **state)
{
	static const unsigned each[] = {2, 2, 1, 1, 1, 1, 0}, one[] = {0, 0, 1, 1, 1, 1, 0};
	struct net *net = net_of("part:A fattree down:2x2x2 up:1x2x2; part:B crossbar node:4; zipper:near A:2 B:1; "
				 "zipper:far A:7 B:2; zipper:beside A:1 B:3");
	struct joined *j = (struct joined *)net;
	uint32_t d = j->part[1].first_point;

	(void)state;
	assert_int_equal(joined_forward_by(j, "near"), 0);
	assert_int_equal(joined_forward_by(j, "far"), 0);
	paths_count(net, 0, d, each, 7);
	assert_int_equal(joined_forward_by(j, "far"), 0);
	assert_int_equal(joined_forward_by(j, "away"), -ENOENT);
	paths_count(net, 0, d, one, 7);
	net_destroy(net);
}

/* A - B - C: over two zippers. */
static void zippers_chain(void **state)
{
	static const struct message m[] = {{0, 4, 8}};
	static const struct expected e[] = {{"A:n0>x", 8}, {"A:x>n1", 8}, {"A>y", 8}, {"y:A>B", 8}, {"y>B", 8},
		{"B:n0>x", 8}, {"B:x>n1", 8}, {"B>z", 8}, {"z:B>C", 8}, {"z>C", 8}, {"C:n1>x", 8}, {"C:x>n0", 8}};

	(void)state;
	CHECK("part:A crossbar node:2; part:B crossbar node:2; part:C crossbar node:2; zipper:y A:1 B:0; "
	      "zipper:z B:1 C:1",
		"SD", m, e);
	CHECK("part:A crossbar node:2; part:B crossbar node:2; part:C crossbar node:2; zipper:y A:1 B:0; "
	      "zipper:z B:1 C:1",
		"AH", m, e);
}

/* --- any machine --- */

/* In the second one messages are many enough to meet at legs (mapper/adapt_legs.c). */
static const char *const networks[] = {"dragonfly group:9 chassis:2 router:4 node:1 bandwidth:1000",
	"dragonfly group:3 chassis:2 router:2 node:1 bandwidth:1000",
	"dragonfly group:5 chassis:3 router:3 node:1 global:2 bandwidth:1000",
	"dragonfly group:4 chassis:2 router:2 node:2 injection:2000 bandwidth:1000 wiring:circulant",
	"fattree arity:4 levels:3 taper:2 bandwidth:1000", "torus:4x3x2 bandwidth:1000",
	"crossbar node:20 bandwidth:1000",
	"part:A dragonfly group:3 chassis:2 router:2 node:1 core:1 bandwidth:1000; part:B fattree arity:3 levels:2 "
	"bandwidth:900; "
	"zipper:y A:0 B:1 port:500; zipper:z A:7 B:5 port:500"};

static size_t messages_make(const struct net *net, struct message *m)
{
	for (uint32_t i = 0; i < 60; i++) {
		m[i].src = i * 7 % net->points;
		m[i].dst = (m[i].src + 1 + i * i % (net->points - 1)) % net->points;
		m[i].bytes = 1000 + i * 977;
	}
	return 60;
}

/* The same to the last bit with one thread and with three. Conservation is checked by model_predict() itself. */
static void threads_do_not_matter(void **state)
{
	struct message m[60];
	struct model_opts opts;

	(void)state;
	model_defaults(&opts);
	for (size_t k = 0; k < sizeof(networks) / sizeof(networks[0]); k++) {
		struct net *net = net_of(networks[k]);
		size_t n = messages_make(net, m);

		for (const struct routing *const *r = routing_table; *r; r++) {
			double *one, *three;

			opts.threads = 1;
			one = predict(net, (*r)->name, m, n, &opts);
			opts.threads = 3;
			three = predict(net, (*r)->name, m, n, &opts);
			assert_memory_equal(one, three, net->links * sizeof(double));
			free(one);
			free(three);
		}
		net_destroy(net);
	}
}

/* Every path begins where it should, ends there, is connected and short. Follows the names of the links. */
static void paths_hang_together(void **state)
{
	struct net *net = net_of("dragonfly group:7 chassis:2 router:3 node:1");
	uint32_t link[NET_SLOTS_MAX];

	(void)state;
	for (uint32_t s = 0; s < net->points; s++) {
		for (uint32_t d = 0; d < net->points; d++) {
			for (uint64_t k = 0; s != d && k < net->ops->direct_count(net, s, d) + 8; k++) {
				uint32_t direct = net->ops->direct_count(net, s, d), hops = 0, slots;
				char at[32], to[32], name[64];

				snprintf(at, sizeof(at), "g%u.c%u.r%u", s / 6, s % 6 / 3, s % 3);
				snprintf(to, sizeof(to), "g%u.c%u.r%u", d / 6, d % 6 / 3, d % 3);
				if (k < direct)
					net->ops->direct(net, s, d, (uint32_t)k, link);
				else
					net->ops->indirect(net, s, d, k * UINT64_C(0x9e3779b97f4a7c15), link);
				slots = k < direct ? net->direct_slots : net->indirect_slots;
				for (uint32_t h = 0; h < slots; h++) {
					char *end;

					if (net->link_class[link[h]] == NET_NONE)
						continue;
					hops++;
					net->ops->link_name(net, link[h], name, sizeof(name));
					assert_int_equal(strncmp(name, at, strlen(at)), 0);
					end = strchr(name, '>');
					assert_non_null(end);
					strcpy(at, end + 1);
				}
				assert_string_equal(at, to);
				assert_in_range(hops, 1, k < direct ? 5 : 10);
			}
		}
	}
	net_destroy(net);
}

/* The links of a path that are not void, in order; returns their number. */
static uint32_t crossed(const struct net *net, const uint32_t *link, uint32_t slots, uint32_t *out)
{
	uint32_t n = 0;

	for (uint32_t h = 0; h < slots; h++)
		if (net->link_class[link[h]] != NET_NONE)
			out[n++] = link[h];
	return n;
}

/* Path (i, j) of a fork, from the first link to the last. */
static uint32_t fork_path(const struct net *net, const struct net_fork *f, int i, int j, uint32_t *out)
{
	struct net_leg first, last;

	assert_true(f->first < net->legs && f->last < net->legs);
	net->ops->legs_list(net, f->first, 1, &first);
	net->ops->legs_list(net, f->last, 1, &last);
	uint32_t link[7] = {net->forked > 1 ? f->middle[1] : NET_VOID, first.link[i][0], first.link[i][1], f->middle[0],
		last.link[j][0], last.link[j][1], net->forked > 1 ? f->middle[2] : NET_VOID};

	return crossed(net, link, 7, out);
}

/* Legs are the same whether asked for one by one or all together; both ways of one cross as many links. */
static void legs_agree(const struct net *net)
{
	struct net_leg *all = malloc(net->legs * sizeof(*all)), one;
	uint32_t out[2];

	assert_non_null(all);
	net->ops->legs_list(net, 0, net->legs, all);
	for (uint32_t l = 0; l < net->legs; l++) {
		net->ops->legs_list(net, l, 1, &one);
		assert_memory_equal(&one, &all[l], sizeof(one));
		assert_int_equal(crossed(net, one.link[0], 2, out), crossed(net, one.link[1], 2, out));
	}
	free(all);
}

/* A fork is all shortest paths and nothing else. */
static void forks_are_the_paths(void **state)
{
	static const char *const nets[] = {"dragonfly group:7 chassis:2 router:3 node:1",
		"dragonfly group:1 chassis:3 router:2",
		"dragonfly group:5 chassis:2 router:2 node:2 injection:2000 wiring:circulant",
		"dragonfly group:6 chassis:3 router:2 node:1 wiring:consecutive"};
	uint32_t link[NET_SLOTS_MAX], a[NET_SLOTS_MAX], b[NET_SLOTS_MAX];

	(void)state;
	for (size_t n = 0; n < sizeof(nets) / sizeof(nets[0]); n++) {
		struct net *net = net_of(nets[n]);

		assert_true(net->forked);
		legs_agree(net);
		for (uint32_t pair = 0; pair < net->points * net->points; pair++) {
			uint32_t s = pair / net->points, d = pair % net->points, count, met = 0;
			struct net_fork f;

			if (s == d)
				continue;
			count = net->ops->direct_count(net, s, d);
			net->ops->fork(net, s, d, &f);
			for (uint32_t k = 0; k < count; k++) {
				uint32_t slots, found = 0;

				net->ops->direct(net, s, d, k, link);
				slots = crossed(net, link, net->direct_slots, a);
				for (int way = 0; way < 4; way++)
					found += fork_path(net, &f, way / 2, way % 2, b) == slots &&
						 !memcmp(a, b, slots * sizeof(*a));
				/* the same weight for each: two equal beginnings count twice everywhere */
				assert_int_equal(found, 4 / count);
				met += found;
			}
			assert_int_equal(met, 4);
		}
		net_destroy(net);
	}
}

/* Sampling packets comes near the expectation, and nearer with more packets. */
static void packets_approach_expectation(void **state)
{
	struct net *net = net_of(networks[0]);
	struct message m[60];
	size_t n = messages_make(net, m);
	struct model_opts opts;
	double *exact, *packets, off[2];

	(void)state;
	model_defaults(&opts);
	exact = predict(net, "SI", m, n, &opts);
	for (int i = 0; i < 2; i++) {
		opts.packet = i ? 1 : 100;
		packets = predict(net, "SIP", m, n, &opts);
		off[i] = 0;
		for (uint32_t l = 0; l < net->links; l++)
			off[i] += (packets[l] - exact[l]) * (packets[l] - exact[l]);
		free(packets);
	}
	/* a hundred times the packets: a tenth of the deviation, squared a hundredth; a third of that is left as margin
	 */
	assert_true(off[1] < off[0] / 30);
	free(exact);
	net_destroy(net);
}

/* 1, 2, 3, 4, and 10 twice as cables: quartiles interpolate. */
static void statistics(void **state)
{
	struct net *net = net_of("crossbar node:2");
	double load[5] = {99, 1, 4, 2, 3};
	struct stats s;

	(void)state;
	assert_int_equal(stats_make(&s, net, load, &stats_kinds[0], 3), 0);
	assert_int_equal(s.count, 4);
	assert_true(s.min == 1 && s.q1 == 1.75 && s.median == 2.5 && s.mean == 2.5 && s.q3 == 3.25 && s.max == 4);
	assert_true(s.bin[0] == 1 && s.bin[1] == 1 && s.bin[2] == 2);
	stats_free(&s);
	net->cables[NET_UP] = 2;
	assert_int_equal(stats_make(&s, net, load, &stats_kinds[0], 3), 0);
	assert_int_equal(s.count, 6);
	assert_true(s.min == 0.5 && s.median == 1 && s.max == 4 && s.sum == 10);
	stats_free(&s);
	net_destroy(net);
}

/* The full machine's numbers (section II), without predicting anything. */
static void paper_machine(void **state)
{
	struct net *net = net_of("paper");
	uint32_t count[NET_CLASSES] = {0};

	(void)state;
	for (uint32_t l = 0; l < net->links; l++)
		count[net->link_class[l]]++;
	assert_int_equal(net->points, 92160);
	assert_int_equal(net->nodes * net->cores, 8847360);
	assert_int_equal(count[NET_ROW], 92160 * 15);
	assert_int_equal(count[NET_COLUMN], 92160 * 5);
	assert_int_equal(count[NET_GLOBAL], 960 * 959);
	net_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gates_modulo),
		cmocka_unit_test(very_many_bytes),
		cmocka_unit_test(gates_consecutive),
		cmocka_unit_test(corner),
		cmocka_unit_test(corner_adaptive),
		cmocka_unit_test(triangle_indirect),
		cmocka_unit_test(release_indirect),
		cmocka_unit_test(node_links),
		cmocka_unit_test(crossbar),
		cmocka_unit_test(fattree),
		cmocka_unit_test(ring),
		cmocka_unit_test(torus_order),
		cmocka_unit_test(ring_indirect),
		cmocka_unit_test(zipper),
		cmocka_unit_test(zippers_share),
		cmocka_unit_test(zippers_carry),
		cmocka_unit_test(zippers_chain),
		cmocka_unit_test(threads_do_not_matter),
		cmocka_unit_test(paths_hang_together),
		cmocka_unit_test(forks_are_the_paths),
		cmocka_unit_test(packets_approach_expectation),
		cmocka_unit_test(statistics),
		cmocka_unit_test(paper_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
