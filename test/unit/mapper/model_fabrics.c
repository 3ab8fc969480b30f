/* SPDX-License-Identifier: BSD-3-Clause */
/* The network model on fat trees of three levels, Slim Flies and graphs from files, worked out by
 * hand: what each link carries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/mapper/model_fixture.h"

static bool near(double found, double expected)
{
	return found > expected - 0.1 && found < expected + 0.1;
}

/* Node 7 is odd, and so is 7 / 2: second parent at both levels. Node 5 is odd, 5 / 2 is even. Node 2 is even, and its
 * message turns back at the second level. */
static void tree_deterministic(void **state)
{
	static const struct message m[] = {{0, 7, 100}, {0, 5, 10}, {1, 2, 1}};
	static const struct expected e[] = {{"l0.s0.0>p0", 110}, {"l1.s0.0>p1", 110}, {"l2.s0.1>p1", 100},
		{"l2.s1.1<p1", 100}, {"l1.s3.0<p1", 100}, {"l0.s7.0<p0", 100}, {"l2.s0.1>p0", 10}, {"l2.s1.1<p0", 10},
		{"l1.s2.0<p1", 10}, {"l0.s5.0<p0", 10}, {"l0.s1.0>p0", 1}, {"l1.s0.0>p0", 1}, {"l1.s1.0<p0", 1},
		{"l0.s2.0<p0", 1}};

	(void)state;
	CHECK("fattree arity:2 levels:3", "DET", m, e);
}

/* Four nodes and two ways up at each leaf switch, two leaf switches and one way up at each switch above. */
static void tree_tapered(void **state)
{
	static const struct message m[] = {{0, 8, 100}, {1, 9, 10}};
	static const struct expected one[] = {{"l0.s0.0>p0", 100}, {"l1.s0.0>p0", 100}, {"l2.s0.0>p0", 100},
		{"l2.s1.0<p0", 100}, {"l1.s2.0<p0", 100}, {"l0.s8.0<p0", 100}, {"l0.s1.0>p0", 10}, {"l1.s0.0>p1", 10},
		{"l2.s0.1>p0", 10}, {"l2.s1.1<p0", 10}, {"l1.s2.0<p1", 10}, {"l0.s9.0<p0", 10}};
	static const struct expected even[] = {{"l0.s0.0>p0", 100}, {"l0.s1.0>p0", 10}, {"l1.s0.0>p0", 55},
		{"l1.s0.0>p1", 55}, {"l2.s0.0>p0", 55}, {"l2.s0.1>p0", 55}, {"l2.s1.0<p0", 55}, {"l2.s1.1<p0", 55},
		{"l1.s2.0<p0", 55}, {"l1.s2.0<p1", 55}, {"l0.s8.0<p0", 100}, {"l0.s9.0<p0", 10}};

	(void)state;
	CHECK("fattree down:4x2x2 up:1x2x1", "DET", m, one);
	CHECK("fattree down:4x2x2 up:1x2x1", "SD", m, even);
	CHECK("fattree down:4x2x2 up:1x2x1", "AD", m, even);
}

/* One of the four ways has a link with a quarter of the bandwidth of the others. It gets 100 of 1300 parts, the others
 * 400 each. The node's own link then is full, and nothing more can be had. */
static void tree_adaptive(void **state)
{
	static const struct message m[] = {{0, 7, 1300}};
	static const struct expected e[] = {{"l0.s0.0>p0", 1300}, {"l1.s0.0>p0", 500}, {"l1.s0.0>p1", 800},
		{"l2.s0.0>p0", 100}, {"l2.s0.0>p1", 400}, {"l2.s0.1>p0", 400}, {"l2.s0.1>p1", 400}, {"l2.s1.0<p0", 100},
		{"l2.s1.0<p1", 400}, {"l2.s1.1<p0", 400}, {"l2.s1.1<p1", 400}, {"l1.s3.0<p0", 500}, {"l1.s3.0<p1", 800},
		{"l0.s7.0<p0", 1300}};
	struct net *net = fixture_net("fattree arity:2 levels:3 bandwidth:400");

	(void)state;
	net->capacity[fixture_link(net, "l2.s0.0>p0")] = 100;
	fixture_check_net(net, "AD", m, 1, e, sizeof(e) / sizeof(e[0]));
	net_destroy(net);
}

/* D-mod-K: when all nodes send to the node a distance ahead, no link carries two messages, whatever the distance. */
static void tree_shifts(void **state)
{
	struct net *net = fixture_net("fattree arity:3 levels:3");
	struct model_opts opts;

	(void)state;
	model_defaults(&opts);
	for (uint32_t ahead = 1; ahead < net->nodes; ahead++) {
		struct message m[27];
		double *load;

		for (uint32_t i = 0; i < net->nodes; i++)
			m[i] = (struct message){i, (i + ahead) % net->nodes, 1};
		load = fixture_predict(net, "DET", m, net->nodes, &opts);
		for (uint32_t l = 0; l < net->links; l++)
			assert_true(load[l] <= 1);
		free(load);
	}
	net_destroy(net);
}

/* The nodes of a part are numbered from 0 there: point 8 of the whole is node 3 of B, which is odd. */
static void tree_in_a_part(void **state)
{
	static const struct message m[] = {{5, 8, 5}};
	static const struct expected e[] = {{"B:l0.s0.0>p0", 5}, {"B:l1.s0.0>p1", 5}, {"B:l1.s1.0<p1", 5},
		{"B:l0.s3.0<p0", 5}};

	(void)state;
	CHECK("part:A crossbar node:5; part:B fattree arity:2 levels:2; zipper:z A:0 B:0", "DET", m, e);
}

/* Slim Flies: as many links at each router as the paper says, and one or two hops between any two. For q = 5, the graph
 * of Hoffman and Singleton, there is exactly one shortest path. */
static void slimfly_shape(void **state)
{
	static const struct {
		uint32_t q, degree;
	} shapes[] = {{3, 5}, {4, 6}, {5, 7}, {7, 11}, {8, 12}, {9, 13}, {11, 17}, {13, 19}, {16, 24}, {19, 29}};
	uint32_t link[NET_SLOTS_MAX];
	char name[64];

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		uint32_t n = 2 * shapes[i].q * shapes[i].q, neighbours = 0;
		struct net *net;

		snprintf(name, sizeof(name), "slimfly q:%u", shapes[i].q);
		net = fixture_net(name);
		assert_int_equal(net->points, n);
		assert_int_equal(net->links - 1, n * shapes[i].degree);
		assert_int_equal(net->level[NET_ROUTER], (shapes[i].degree + 1) / 2);
		assert_int_equal(net->direct_slots, 2);
		for (uint32_t d = 1; d < n; d++) {
			uint32_t count = net->ops->direct_count(net, 0, d);

			assert_true(count >= 1 && (count == 1 || shapes[i].q != 5));
			net->ops->direct(net, 0, d, count - 1, link);
			neighbours += net->link_class[link[1]] == NET_NONE;
		}
		assert_int_equal(neighbours, shapes[i].degree);
		net_destroy(net);
	}
}

/* q = 5: the powers of 2 are 1, 2, 4, 3, so X = {1, 4} and X' = {2, 3}. (0, 0, 0) and (0, 0, 2) have (0, 0, 1) between
 * them. (0, 1, 0) is on the line 2 x + 3. (0, 0, 0) and (0, 1, 0) are both on the line 0 x + 0. */
static void slimfly_direct(void **state)
{
	static const struct message m[] = {{0, 1, 100}, {0, 2, 10}, {5, 38, 3}, {0, 5, 1}, {25, 27, 7}};
	static const struct expected e[] = {{"0.0.0>0.0.1", 110}, {"0.0.1>0.0.2", 10}, {"0.1.0>1.2.3", 3},
		{"0.0.0>1.0.0", 1}, {"1.0.0>0.1.0", 1}, {"1.0.0>1.0.2", 7}};
	static const char *const routings[] = {"SD", "AD", "DET"};

	(void)state;
	for (int i = 0; i < 3; i++)
		CHECK("slimfly q:5", routings[i], m, e);
}

/* A fiftieth over each router. From (0, 0, 0) to a neighbour the link between them carries those over the neighbour and
 * the six routers behind it; and on the way back those from (0, 0, 0) itself and its six other neighbours. In all,
 * seven routers are one hop away and 42 are two. */
static void slimfly_indirect(void **state)
{
	static const struct message m[] = {{0, 1, 5000}};
	struct net *net = fixture_net("slimfly q:5");
	struct model_opts opts;
	double *load, all = 0;

	(void)state;
	model_defaults(&opts);
	load = fixture_predict(net, "SI", m, 1, &opts);
	assert_true(near(load[fixture_link(net, "0.0.0>0.0.1")], 1400));
	for (uint32_t l = 0; l < net->links; l++)
		all += load[l];
	assert_true(near(all, 2 * (7 + 2 * 42) * 100));
	free(load);
	net_destroy(net);
}

/* Makes a network from a file of these statements. */
static struct net *graph_net(const char *statements)
{
	char path[] = "graph-XXXXXX", text[64];
	FILE *f = fdopen(mkstemp(path), "w");
	struct net *net;

	assert_non_null(f);
	fputs(statements, f);
	fclose(f);
	snprintf(text, sizeof(text), "graph file:%s bandwidth:300", path);
	net = fixture_net(text);
	unlink(path);
	return net;
}

/* Three paths from a to z: over b and e, over c and e, over c and f. */
static const char three_paths[] =
	"link:b to:e\nrouter:a node:2\nrouter:b\nrouter:c node:0 # none\nrouter:z node:1\n"
	"router:e; router:f\nlink:a to:b\nlink:c to:a bandwidth:300\nlink:c to:e\nlink:f to:c\n"
	"link:z to:e\nlink:z to:f\n";

#define CHECK_NET(net, routing, messages, expected)                                                                    \
	fixture_check_net(net, routing, messages, sizeof(messages) / sizeof((messages)[0]), expected,                  \
		sizeof(expected) / sizeof((expected)[0]))

/* SD: a third on each path. ECMP: half at a, and half of that half at c. DET: z is number 1, which is odd, so a takes
 * its second link, and so does c. a is number 0: z takes its first link, to e, and e takes its first one, to b. */
static void graph_static(void **state)
{
	static const struct message m[] = {{0, 1, 12}}, back[] = {{1, 0, 5}};
	static const struct expected paths[] = {{"a>b", 4}, {"a>c", 8}, {"b>e", 4}, {"c>e", 4}, {"c>f", 4}, {"e>z", 8},
		{"f>z", 4}};
	static const struct expected links[] = {{"a>b", 6}, {"a>c", 6}, {"b>e", 6}, {"c>e", 3}, {"c>f", 3}, {"e>z", 9},
		{"f>z", 3}};
	static const struct expected one[] = {{"a>c", 12}, {"c>f", 12}, {"f>z", 12}};
	static const struct expected home[] = {{"z>e", 5}, {"e>b", 5}, {"b>a", 5}};
	struct net *net = graph_net(three_paths);

	(void)state;
	CHECK_NET(net, "SD", m, paths);
	CHECK_NET(net, "ECMP", m, links);
	CHECK_NET(net, "DET", m, one);
	CHECK_NET(net, "DET", back, home);
	assert_int_equal(net->nodes, 3);
	assert_int_equal(net->ops->point(net, 1), 0);
	assert_int_equal(net->ops->point(net, 2), 1);
	net_destroy(net);
}

/* The link from a to b has 100, the others 300. The requests on the three paths are in proportion to 100, 300 and 300.
 * The link to c is the narrowest for the second and the third path: they get half of it each, 150. The first one gets
 * as much as it requests of the link from e, 75, and in the next round the 25 that are left on its first link. */
static void graph_adaptive(void **state)
{
	static const struct message m[] = {{0, 1, 400}};
	static const struct expected e[] = {{"a>b", 100}, {"a>c", 300}, {"b>e", 100}, {"c>e", 150}, {"c>f", 150},
		{"e>z", 250}, {"f>z", 150}};
	struct net *net = graph_net(three_paths);

	(void)state;
	net->capacity[fixture_link(net, "a>b")] = 100;
	CHECK_NET(net, "AD", m, e);
	net_destroy(net);
}

/* A ring of three with two cables on one side: half goes over each. Indirect: a third over each router. */
static void graph_cables(void **state)
{
	static const struct message m[] = {{0, 1, 60}};
	static const struct expected e[] = {{"a>b:0", 30}, {"a>b:1", 30}};
	static const struct expected via[] = {{"a>b:0", 20}, {"a>b:1", 20}, {"a>c", 20}, {"c>b", 20}};
	static const char *const routings[] = {"SD", "ECMP", "AD"};
	struct net *net = graph_net("router:a node:1\nrouter:b node:1\nrouter:c node:1\nlink:a to:b cables:2\n"
				    "link:b to:c\nlink:c to:a\n");

	(void)state;
	for (int i = 0; i < 3; i++)
		CHECK_NET(net, routings[i], m, e);
	CHECK_NET(net, "SI", m, via);
	net_destroy(net);
}

/* With up to two shortest paths and no others: there are more than --paths asks for. */
static void check_shortest(struct net *net, const char *routing, const struct message *m, size_t n,
	const struct expected *e, size_t links)
{
	struct model_opts opts;

	model_defaults(&opts);
	opts.paths = 1;
	opts.direct_paths = 2;
	fixture_check_opts(net, routing, &opts, m, n, e, links);
}

/* a has a way to z over b and one over c. y has only the one over b, and fills half of the link from there. AH knows,
 * and a sends a quarter over b, as in corner_adaptive. With AL a sees that its own links are alike. */
static void local_is_blind(void **state)
{
	static const struct message m[] = {{0, 2, 100}, {1, 2, 100}};
	static const struct expected blind[] = {{"a>b", 50}, {"a>c", 50}, {"b>z", 150}, {"c>z", 50}, {"y>b", 100}};
	static const struct expected knows[] = {{"a>b", 25}, {"a>c", 75}, {"b>z", 125}, {"c>z", 75}, {"y>b", 100}};
	struct net *net = graph_net("router:a node:1\nrouter:y node:1\nrouter:z node:1\nrouter:b\nrouter:c\n"
				    "link:a to:b\nlink:a to:c\nlink:b to:z\nlink:c to:z\nlink:y to:b\n");

	(void)state;
	check_shortest(net, "AL", m, 2, blind, 5);
	check_shortest(net, "AH", m, 2, knows, 5);
	net_destroy(net);
}

/* Messages of others through a router are on its own links: b sees the message from y on its link to z. Of 150 that are
 * requested there, its own 50 get a third; on the link to c they get all. That is one to three. */
static void local_sees_transit(void **state)
{
	static const struct message m[] = {{1, 2, 100}, {0, 3, 100}};
	static const struct expected e[] = {{"y>b", 100}, {"b>z", 125}, {"z>w", 25}, {"b>c", 75}, {"c>w", 75}};
	struct net *net = graph_net("router:b node:1\nrouter:y node:1\nrouter:z node:1\nrouter:w node:1\nrouter:c\n"
				    "link:y to:b\nlink:b to:z\nlink:b to:c\nlink:z to:w\nlink:c to:w\n");

	(void)state;
	check_shortest(net, "AL", m, 2, e, 5);
	net_destroy(net);
}

/* In a fat tree the leaf switch decides: by its own link up, but not by the link of the node, nor by the link down. */
static void local_tree(void **state)
{
	static const struct message m[] = {{0, 2, 100}};
	static const struct expected even[] = {{"l0.s0.0>p0", 100}, {"l1.s0.0>p0", 50}, {"l1.s0.0>p1", 50},
		{"l1.s1.0<p0", 50}, {"l1.s1.0<p1", 50}, {"l0.s2.0<p0", 100}};
	static const struct expected own[] = {{"l0.s0.0>p0", 100}, {"l1.s0.0>p0", 25}, {"l1.s0.0>p1", 75},
		{"l1.s1.0<p0", 25}, {"l1.s1.0<p1", 75}, {"l0.s2.0<p0", 100}};
	struct net *net = fixture_net("fattree arity:2 levels:2 bandwidth:300");

	(void)state;
	net->capacity[fixture_link(net, "l0.s0.0>p0")] = 1;
	net->capacity[fixture_link(net, "l1.s1.0<p0")] = 100;
	check_shortest(net, "AL", m, 1, even, 6);
	net->capacity[fixture_link(net, "l1.s0.0>p0")] = 100;
	check_shortest(net, "AL", m, 1, own, 6);
	net_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_deterministic),
		cmocka_unit_test(tree_tapered),
		cmocka_unit_test(tree_adaptive),
		cmocka_unit_test(tree_shifts),
		cmocka_unit_test(tree_in_a_part),
		cmocka_unit_test(slimfly_shape),
		cmocka_unit_test(slimfly_direct),
		cmocka_unit_test(slimfly_indirect),
		cmocka_unit_test(graph_static),
		cmocka_unit_test(graph_adaptive),
		cmocka_unit_test(graph_cables),
		cmocka_unit_test(local_is_blind),
		cmocka_unit_test(local_sees_transit),
		cmocka_unit_test(local_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
