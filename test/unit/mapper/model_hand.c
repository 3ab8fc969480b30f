/* SPDX-License-Identifier: BSD-3-Clause */
/* The network model on machines small enough to work out by hand: what each link carries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "test/unit/mapper/model_fixture.h"

/* Two groups of two routers, wiring "modulo". The gate of group 0 to group 1 is router 1; that of group 1 to group 0 is
 * router 0. The cable ends at these two. */
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
					     {"l1.s1.0<p0", 0x1p48}, {"l1.s1.0<p1", 0x1p48}, {"l0.s2.0<p0", 0x1p49}},
				     cables[] = {{"g0.c0.r0.p1>g1.c0.r0", 0x1p51}, {"g0.c0.r0.p3>g1.c0.r0", 0x1p51}};

	(void)state;
	CHECK("crossbar node:2", "SD", m, x);
	CHECK("crossbar node:2", "SI", m, x);
	CHECK("torus:4", "SD", m, r);
	CHECK("fattree arity:2 levels:2", "SD", half, tree);
	/* whichever of the two is the intermediate router, the bytes go from the one to the other once */
	CHECK("dragonfly group:2 chassis:1 router:1 node:1 global:2", "SI", m, cables);
}

/* One byte over very many ways: all of it arrives. */
static void very_few_bytes(void **state)
{
	static const char *const routings[] = {"SD", "SI"};
	static const struct message m[] = {{0, 1, 1}};
	struct net *net = fixture_net("dragonfly group:2 chassis:1 router:1 node:1 global:1000");
	struct model_opts opts;

	(void)state;
	model_defaults(&opts);
	for (size_t i = 0; i < sizeof(routings) / sizeof(routings[0]); i++) {
		double *load = fixture_predict(net, routings[i], m, 1, &opts), sum = 0;

		for (uint32_t l = 0; l < net->links; l++)
			sum += load[l];
		if (sum < 1 - 1e-6 || sum > 1 + 1e-6)
			fail_msg("%s: the cables carry %.9g bytes of one", routings[i], sum);
		free(load);
	}
	net_destroy(net);
}

/* The same machine with wiring "consecutive": each group has one link, at router 0. */
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

/* The same with links of 100 bytes a second, and another message of 100 bytes on the first link. First iteration: the
 * corner message requests 50 on each way, the other message 100. The common link is requested for 150, so its
 * availability is 2/3; that of the other links is 2. The corner message gets 50 x 2/3 and 50 x 2 = 100, the other one
 * 66 2/3. Then both the common link and the second way are full. The split is 1/4 and 3/4. */
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
	static const char *const routings[] = {"SD", "SI", "AD", "AI", "AH", "SIP", "DET"};

	(void)state;
	for (int i = 0; i < 7; i++)
		CHECK("crossbar node:3", routings[i], m, e);
}

/* Nodes of one router: no routing sends their messages over another router. The rule for the
 * intermediate router and a second link between the groups change nothing. */
static void node_links_alone(void **state)
{
	static const struct message m[] = {{0, 1, 1000}, {5, 4, 7}};
	static const struct expected e[] = {{"n0>g0.c0.r0", 1000}, {"g0.c0.r0>n1", 1000}, {"n5>g0.c1.r0", 7},
		{"g0.c1.r0>n4", 7}};
	static const char *const routings[] = {"SD", "SI", "AD", "AI", "AH", "SIP", "DET"};
	static const char network[] = "dragonfly group:4 chassis:2 router:2 node:2 core:1 injection:16384M";
	char more[128];

	(void)state;
	for (int i = 0; i < 7; i++) {
		CHECK(network, routings[i], m, e);
		snprintf(more, sizeof(more), "%s global:2", network);
		CHECK(more, routings[i], m, e);
		snprintf(more, sizeof(more), "%s intermediate:release", network);
		CHECK(more, routings[i], m, e);
	}
}

/* A message beside it that does leave its router is routed as before: a third each over routers 0, 1 and 2. */
static void node_links_indirect(void **state)
{
	static const struct message m[] = {{0, 1, 50}, {0, 2, 900}};
	static const struct expected e[] = {{"n0>g0.c0.r0", 950}, {"g0.c0.r0>n1", 50}, {"g0.c0.r1>n2", 900},
		{"g0.c0.r0>g0.c0.r1", 600}, {"g0.c0.r0>g0.c0.r2", 300}, {"g0.c0.r2>g0.c0.r1", 300}};

	(void)state;
	CHECK("dragonfly group:1 chassis:1 router:3 node:2 injection:10G", "SI", m, e);
	CHECK("dragonfly group:1 chassis:1 router:3 node:2 injection:10G intermediate:release", "SI", m, e);
}

/* Two leaf switches of two nodes, and two roots: half the bytes go over each root. */
static void fattree(void **state)
{
	static const struct message m[] = {{0, 3, 100}, {0, 1, 10}};
	static const struct expected e[] = {{"l0.s0.0>p0", 110}, {"l1.s0.0>p0", 50}, {"l1.s0.0>p1", 50},
		{"l1.s1.0<p0", 50}, {"l1.s1.0<p1", 50}, {"l0.s3.0<p0", 100}, {"l0.s1.0<p0", 10}};

	(void)state;
	CHECK("fattree arity:2 levels:2", "SD", m, e);
	CHECK("fattree arity:2 levels:2", "AD", m, e);
	CHECK("fattree arity:2 levels:2", "SI", m, e);
	CHECK("fattree down:2x2 up:1x2", "SD", m, e);
}

/* Nodes of one leaf switch: no routing leaves it. Other indirect messages go over all four roots, even where a switch
 * of the second level would do. */
static void fattree_indirect(void **state)
{
	static const struct message leaf[] = {{0, 1, 10}}, m[] = {{0, 1, 10}, {0, 2, 100}};
	static const struct expected e[] = {{"l0.s0.0>p0", 10}, {"l0.s1.0<p0", 10}};
	static const struct expected roots[] = {{"l0.s0.0>p0", 110}, {"l0.s1.0<p0", 10}, {"l1.s0.0>p0", 50},
		{"l1.s0.0>p1", 50}, {"l2.s0.0>p0", 25}, {"l2.s0.0>p1", 25}, {"l2.s0.1>p0", 25}, {"l2.s0.1>p1", 25},
		{"l2.s0.0<p0", 25}, {"l2.s0.0<p1", 25}, {"l2.s0.1<p0", 25}, {"l2.s0.1<p1", 25}, {"l1.s1.0<p0", 50},
		{"l1.s1.0<p1", 50}, {"l0.s2.0<p0", 100}};
	static const char *const routings[] = {"SD", "SI", "AD", "AI", "AH", "SIP", "DET"};

	(void)state;
	for (int i = 0; i < 7; i++)
		CHECK("fattree arity:2 levels:3", routings[i], leaf, e);
	CHECK("fattree arity:2 levels:3", "SI", m, roots);
}

/* A ring of four: half the bytes to the opposite router go each way. */
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

/* Two coordinates differ: half the bytes correct the one first, half the other. One differs: one hop. */
static void hyperx_corner(void **state)
{
	static const struct message m[] = {{0, 5, 100}, {0, 2, 10}, {3, 0, 1}};
	static const struct expected e[] = {{"0.0>1.0", 50}, {"1.0>1.2", 50}, {"0.0>0.2", 60}, {"0.2>1.2", 50},
		{"1.0>0.0", 1}};

	(void)state;
	CHECK("hyperx:2x3", "SD", m, e);
}

/* Three coordinates differ: six orders, with a sixth of the bytes each. */
static void hyperx_cube(void **state)
{
	static const struct message m[] = {{0, 7, 60}};
	static const struct expected e[] = {{"0.0.0>1.0.0", 20}, {"0.0.0>0.1.0", 20}, {"0.0.0>0.0.1", 20},
		{"1.0.0>1.1.0", 10}, {"1.0.0>1.0.1", 10}, {"0.1.0>1.1.0", 10}, {"0.1.0>0.1.1", 10}, {"0.0.1>1.0.1", 10},
		{"0.0.1>0.1.1", 10}, {"1.1.0>1.1.1", 20}, {"1.0.1>1.1.1", 20}, {"0.1.1>1.1.1", 20}};

	(void)state;
	CHECK("hyperx:2x2x2", "SD", m, e);
	CHECK("hyperx:2x2x2", "AD", m, e);
}

/* As corner_adaptive: a row and a column of a dragonfly are two dimensions. */
static void hyperx_adaptive(void **state)
{
	static const struct message m[] = {{0, 3, 100}, {0, 1, 100}};
	static const struct expected e[] = {{"0.0>0.1", 125}, {"0.1>1.1", 25}, {"0.0>1.0", 75}, {"1.0>1.1", 75}};

	(void)state;
	CHECK("hyperx:2x2 bandwidth:100", "AD", m, e);
}

/* A quarter each over all four routers. Over 0.0 (itself) and 0.1 (the destination) it is the link between them. Over
 * 1.0, half comes back to it and half goes over 1.1; over 1.1, half goes there by 1.0 and half by the destination. */
static void hyperx_indirect(void **state)
{
	static const struct message m[] = {{0, 1, 400}}, three[] = {{0, 1, 900}};
	static const struct expected e[] = {{"0.0>0.1", 300}, {"0.0>1.0", 150}, {"1.0>0.0", 50}, {"1.0>1.1", 100},
		{"0.1>1.1", 50}, {"1.1>0.1", 150}};
	static const struct expected line[] = {{"0>1", 600}, {"0>2", 300}, {"2>1", 300}};

	(void)state;
	CHECK("hyperx:2x2", "SI", m, e);
	CHECK("hyperx:3", "SI", three, line);
}

/* Leaves 0, 1 are in group 0, leaves 4, 5 in group 2. Half the bytes within a group go over each spine. The link to
 * group 2 is the second one of group 0, and so at its second spine; the link to group 0 is the first one of group 2. */
static void megafly_direct(void **state)
{
	static const struct message m[] = {{0, 1, 100}, {0, 5, 10}};
	static const struct expected e[] = {{"g0.l0>g0.s0", 50}, {"g0.l0>g0.s1", 60}, {"g0.s0>g0.l1", 50},
		{"g0.s1>g0.l1", 50}, {"g0.s1.p0>g2.s0", 10}, {"g2.s0>g2.l1", 10}};

	(void)state;
	CHECK("megafly group:3 leaf:2 spine:2 node:1", "SD", m, e);
}

/* Two links between two groups of two spines: half the bytes go over each. */
static void megafly_bundle(void **state)
{
	static const struct message m[] = {{1, 2, 100}};
	static const struct expected e[] = {{"g0.l1>g0.s0", 50}, {"g0.l1>g0.s1", 50}, {"g0.s0.p0>g1.s0", 50},
		{"g0.s1.p0>g1.s1", 50}, {"g1.s0>g1.l0", 50}, {"g1.s1>g1.l0", 50}};

	(void)state;
	CHECK("megafly group:2 leaf:2 spine:2 node:1 global:2", "SD", m, e);
	CHECK("megafly group:2 leaf:2 spine:2 node:1 global:2", "AD", m, e);
}

/* As corner_adaptive: the message to the other group has one path, over the first spine. */
static void megafly_adaptive(void **state)
{
	static const struct message m[] = {{0, 1, 100}, {0, 2, 100}};
	static const struct expected e[] = {{"g0.l0>g0.s0", 125}, {"g0.s0>g0.l1", 25}, {"g0.l0>g0.s1", 75},
		{"g0.s1>g0.l1", 75}, {"g0.s0.p0>g1.s0", 100}, {"g1.s0>g1.l0", 100}};

	(void)state;
	CHECK("megafly group:2 leaf:2 spine:2 node:1 bandwidth:100", "AD", m, e);
}

/* A quarter each over the four leaves. Over 0 (itself) and 1 (the destination) it stays in the group. */
static void megafly_indirect(void **state)
{
	static const struct message m[] = {{0, 1, 400}};
	static const struct expected e[] = {{"g0.l0>g0.s0", 400}, {"g0.s0>g0.l1", 400}, {"g0.s0.p0>g1.s0", 200},
		{"g1.s0.p0>g0.s0", 200}, {"g1.s0>g1.l0", 100}, {"g1.l0>g1.s0", 100}, {"g1.s0>g1.l1", 100},
		{"g1.l1>g1.s0", 100}};

	(void)state;
	CHECK("megafly group:2 leaf:2 spine:1 node:1", "SI", m, e);
}

/* Two crossbars of two nodes, with a zipper at node 1 of each. Points 0, 1 are in A, points 2, 3 in B. Node 1 of A is
 * on the zipper, so its messages to B are not forwarded. Between the two points of the zipper itself there is no link.
 */
static void zipper(void **state)
{
	static const struct message m[] = {{0, 2, 100}, {1, 2, 10}, {0, 3, 1}, {1, 3, 5}};
	static const struct expected e[] = {{"A:n0>x", 101}, {"A:x>n1", 101}, {"A>z", 101}, {"z:A>B", 100},
		{"z>B", 110}, {"B:n1>x", 110}, {"B:x>n0", 110}};
	static const char *const routings[] = {"SD", "SI", "AD", "AI", "AH", "SIP", "DET"};

	(void)state;
	for (int i = 0; i < 7; i++)
		CHECK("part:A crossbar node:2; part:B crossbar node:2; zipper:z A:1 B:1", routings[i], m, e);
}

/* Two zippers share evenly. With adaptive routing, zippers of 100 and 300 bytes a second share by their bandwidth. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gates_modulo),
		cmocka_unit_test(very_many_bytes),
		cmocka_unit_test(very_few_bytes),
		cmocka_unit_test(gates_consecutive),
		cmocka_unit_test(corner),
		cmocka_unit_test(corner_adaptive),
		cmocka_unit_test(triangle_indirect),
		cmocka_unit_test(release_indirect),
		cmocka_unit_test(node_links),
		cmocka_unit_test(node_links_alone),
		cmocka_unit_test(node_links_indirect),
		cmocka_unit_test(crossbar),
		cmocka_unit_test(fattree),
		cmocka_unit_test(fattree_indirect),
		cmocka_unit_test(ring),
		cmocka_unit_test(torus_order),
		cmocka_unit_test(ring_indirect),
		cmocka_unit_test(hyperx_corner),
		cmocka_unit_test(hyperx_cube),
		cmocka_unit_test(hyperx_adaptive),
		cmocka_unit_test(hyperx_indirect),
		cmocka_unit_test(megafly_direct),
		cmocka_unit_test(megafly_bundle),
		cmocka_unit_test(megafly_adaptive),
		cmocka_unit_test(megafly_indirect),
		cmocka_unit_test(zipper),
		cmocka_unit_test(zippers_share),
		cmocka_unit_test(zippers_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
