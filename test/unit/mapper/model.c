/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of predictions on any machine: threads do not matter, and packets come near the expectation. Also
 * statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/mapper/model_fixture.h"
#include "mapper/model/link_stats.h"
#include "mapper/model/routing_table.h"

/* The second network has enough messages for them to meet at legs (mapper/model/adapt_legs.c). */
static const char *const networks[] = {"dragonfly group:9 chassis:2 router:4 node:1 bandwidth:1000",
	"dragonfly group:3 chassis:2 router:2 node:1 bandwidth:1000",
	"dragonfly group:5 chassis:3 router:3 node:1 global:2 bandwidth:1000",
	"dragonfly group:4 chassis:2 router:2 node:2 injection:2000 bandwidth:1000 wiring:circulant",
	"fattree arity:4 levels:3 taper:2 bandwidth:1000", "torus:4x3x2 bandwidth:1000", "hyperx:4x3x2 bandwidth:1000",
	"slimfly q:4 node:1 bandwidth:1000", "megafly group:4 leaf:3 spine:2 node:1 global:3 bandwidth:1000",
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
		struct net *net = fixture_net(networks[k]);
		size_t n = messages_make(net, m);

		for (const struct routing *const *r = routing_table; *r; r++) {
			double *one, *three;

			/* not known where there are several networks, or several links between two groups */
			if (!strcmp((*r)->name, "ECMP") && (net->ops->joins || strstr(networks[k], "global")))
				continue;
			if ((*r)->local && net->own_slot == NET_OWN_DIFFER)
				continue;
			opts.threads = 1;
			one = fixture_predict(net, (*r)->name, m, n, &opts);
			opts.threads = 3;
			three = fixture_predict(net, (*r)->name, m, n, &opts);
			assert_memory_equal(one, three, net->links * sizeof(double));
			free(one);
			free(three);
		}
		net_destroy(net);
	}
}

/* Sampling packets comes near the expectation, and nearer with more packets. */
static void packets_approach_expectation(void **state)
{
	struct net *net = fixture_net(networks[0]);
	struct message m[60];
	size_t n = messages_make(net, m);
	struct model_opts opts;
	double *exact, *packets, off[2];

	(void)state;
	model_defaults(&opts);
	exact = fixture_predict(net, "SI", m, n, &opts);
	for (int i = 0; i < 2; i++) {
		opts.packet = i ? 1 : 100;
		packets = fixture_predict(net, "SIP", m, n, &opts);
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
	struct net *net = fixture_net("crossbar node:2");
	double load[5] = {99, 1, 4, 2, 3};
	struct link_stats s;

	(void)state;
	assert_int_equal(link_stats_make(&s, net, load, &link_stats_kinds[0], 3), 0);
	assert_int_equal(s.count, 4);
	assert_true(s.min == 1 && s.q1 == 1.75 && s.median == 2.5 && s.mean == 2.5 && s.q3 == 3.25 && s.max == 4);
	assert_true(s.bin[0] == 1 && s.bin[1] == 1 && s.bin[2] == 2);
	link_stats_free(&s);
	net->cables[NET_UP] = 2;
	assert_int_equal(link_stats_make(&s, net, load, &link_stats_kinds[0], 3), 0);
	assert_int_equal(s.count, 6);
	assert_true(s.min == 0.5 && s.median == 1 && s.max == 4 && s.sum == 10);
	link_stats_free(&s);
	net_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_do_not_matter),
		cmocka_unit_test(packets_approach_expectation),
		cmocka_unit_test(statistics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
