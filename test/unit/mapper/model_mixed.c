/* SPDX-License-Identifier: BSD-3-Clause */
/* The network model with flows of two routings: what one flow takes, an adaptive flow beside it does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "mapper/model/routing_table.h"
#include "test/unit/mapper/model_fixture.h"

/* Two leaf switches of four nodes, and two roots. Nodes 1 and 3 send to odd nodes; node 0 has 300 bytes for node 4. */
static const char network[] = "fattree down:4x2 up:1x2";
static const struct message others[] = {{1, 5, 1000}, {3, 7, 1000}}, own[] = {{0, 4, 300}};

/* The bytes of node 0 that go over the second root, where the others are routed like this. */
static double over_second_root(struct net *net, const char *routing)
{
	const uint32_t link = fixture_link(net, "l1.s0.0>p1");
	struct traffic t[2];
	struct model_flow flows[2] = {{routing_table_find(routing), &t[0]}, {routing_table_find("AD"), &t[1]}};
	struct model_opts opts;
	struct model_result mixed, alone;
	struct zerr err = {""};

	model_defaults(&opts);
	fixture_traffic(&t[0], net, others, 2);
	fixture_traffic(&t[1], net, own, 1);
	if (model_predict(net, flows, 1, &opts, &alone, &err) != 0 ||
		model_predict(net, flows, 2, &opts, &mixed, &err) != 0)
		fail_msg("%s: %s", routing, err.text);
	const double bytes = mixed.load[link] - alone.load[link];
	free(mixed.load);
	free(alone.load);
	traffic_free(&t[0]);
	traffic_free(&t[1]);
	return bytes;
}

/* The others are behind the second root, as their nodes are odd. The link to it is requested for 150, 1000 and 1000
 * bytes: node 0 gets 3 / 43 of the bandwidth there. It has as much bandwidth as a link, and so 40 / 43 over the first
 * root. */
static void beside_deterministic(void **state)
{
	struct net *net = fixture_net(network);
	const double found = over_second_root(net, "DET");

	(void)state;
	if (found < 20.9 || found > 21)
		fail_msg("%g bytes over the second root, not 300 * 3 / 43", found);
	net_destroy(net);
}

/* The link to the second root has half the bandwidth. So node 0 requests the roots for 200 and 100 bytes, and alone
 * would send those. The others request each root for 1000 bytes, and fill both links. Node 0 gets 200 / 1200 of the
 * first link, and 100 / 1100 of the half one: 64 bytes of 300 go over the second root. Indirect paths are drawn, which
 * gives nearly the same. */
static void beside_random(void **state)
{
	static const char *const routings[] = {"SD", "SI", "ECMP", "SIP"};
	struct net *net = fixture_net(network);

	(void)state;
	net->capacity[fixture_link(net, "l1.s0.0>p1")] /= 2;
	for (size_t r = 0; r < sizeof(routings) / sizeof(routings[0]); r++) {
		const double found = over_second_root(net, routings[r]);

		print_message("# %s: %g\n", routings[r], found);
		if (found < 55 || found > 75)
			fail_msg("%s: %g bytes over the second root, not 64", routings[r], found);
	}
	net_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside_deterministic),
		cmocka_unit_test(beside_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
