/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks without a prediction: paths are connected, forks are all of the paths, zippers carry their share. Also the
 * size of the paper's machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mapper/net/joined.h"
#include "test/unit/mapper/model_fixture.h"
#include "test/unit/within.h"

/* Counts how often each path from s to d over all zippers comes among the paths that there are now. */
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

/* Two paths lead to one zipper, four to another. The zippers that carry a job are equally likely, whatever is drawn. A
 * third one that does not carry it is not used. */
static void zippers_carry(void **state)
{
	static const unsigned each[] = {2, 2, 1, 1, 1, 1, 0}, one[] = {0, 0, 1, 1, 1, 1, 0};
	struct net *net =
		fixture_net("part:A fattree down:2x2x2 up:1x2x2; part:B crossbar node:4; zipper:near A:2 B:1; "
			    "zipper:far A:7 B:2; zipper:beside A:1 B:3");
	struct joined *j = (struct joined *)net;
	uint32_t d = j->member[1].first_point;

	(void)state;
	assert_int_equal(joined_forward_by(j, "near"), 0);
	assert_int_equal(joined_forward_by(j, "far"), 0);
	paths_count(net, 0, d, each, 7);
	assert_int_equal(joined_forward_by(j, "far"), 0);
	assert_int_equal(joined_forward_by(j, "away"), -ENOENT);
	paths_count(net, 0, d, one, 7);
	net_destroy(net);
}

/* Every path begins and ends where it should, is connected, and is short. The test follows the names of the links. */
static void paths_hang_together(void **state)
{
	struct net *net = fixture_net("dragonfly group:7 chassis:2 router:3 node:1");
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
				assert_within(hops, 1, k < direct ? 5 : 10);
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

/* Legs are the same whether requested one by one or all together. Both ways of a leg cross as many links. */
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
		struct net *net = fixture_net(nets[n]);

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
				/* each path has the same weight: two equal beginnings count twice everywhere */
				assert_int_equal(found, 4 / count);
				met += found;
			}
			assert_int_equal(met, 4);
		}
		net_destroy(net);
	}
}

/* The full machine's numbers (section II), without predicting anything. */
static void paper_machine(void **state)
{
	struct net *net = fixture_net("paper");
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

/* The links of a class, and the bytes a second that all of them carry together. */
static uint32_t links_of(const struct net *net, enum net_class class, double *bandwidth)
{
	uint32_t n = 0;

	*bandwidth = 0;
	for (uint32_t l = 0; l < net->links; l++)
		if (net->link_class[l] == class) {
			n++;
			*bandwidth += (double)net->capacity[l];
		}
	return n;
}

/* Facts of the sources about Slingshot machines (mapper/net/README.md). Each switch has 31 links in its group.
 * Frontier: 270 TB/s each way between all groups, 57 % of what the nodes can send. Aurora: half of the groups have 0.69
 * PB/s to the other half and from there. */
static void slingshot_machines(void **state)
{
	static const struct {
		const char *name;
		uint32_t groups, nodes, ranks, global;
	} m[] = {{"frontier", 74, 9472, 9472 * 64, 4}, {"aurora", 166, 10624, 10624 * 104, 2},
		{"perlmutter", 14, 1792, 1792 * 64, 4}};
	double bandwidth;

	(void)state;
	for (size_t i = 0; i < sizeof(m) / sizeof(m[0]); i++) {
		struct net *net = fixture_net(m[i].name);
		uint32_t between = m[i].groups * (m[i].groups - 1) * m[i].global;

		assert_int_equal(net->points, m[i].groups * 32);
		assert_int_equal(net->nodes, m[i].nodes);
		assert_int_equal(net->nodes * net->cores, m[i].ranks);
		assert_int_equal(net->level[NET_GROUP], m[i].nodes / m[i].groups);
		assert_int_equal(links_of(net, NET_ROW, &bandwidth), net->points * 31);
		assert_int_equal(links_of(net, NET_COLUMN, &bandwidth), 0);
		assert_int_equal(links_of(net, NET_GLOBAL, &bandwidth), between);
		if (i == 0) {
			assert_within(bandwidth / 2 / 1e12, 270, 271);
			assert_within(bandwidth * 100 / (net->nodes * 4 * 25e9), 57, 57);
		}
		if (i == 1) /* of 166 x 165 pairs of groups, 2 x 83 x 83 are apart */
			assert_within(bandwidth * 2 * 83 * 83 / (166 * 165) / 1e13, 68, 69);
		net_destroy(net);
	}
}

/* Summit: as many links upwards from a rack as nodes. The cluster: half as many. */
static void tree_machines(void **state)
{
	double bandwidth;
	struct net *net = fixture_net("summit");

	(void)state;
	assert_int_equal(net->nodes, 4608);
	assert_int_equal(net->level[NET_ROUTER], 18);
	/* 4,608 to nodes, 18 from each of 256 leaf switches, 18 from each of 16 x 18 switches above */
	assert_int_equal(links_of(net, NET_UP, &bandwidth), 4608 + 256 * 18 + 16 * 18 * 18);
	net_destroy(net);
	net = fixture_net("cluster");
	assert_int_equal(net->nodes, 864);
	assert_int_equal(links_of(net, NET_UP, &bandwidth), 864 + 864 / 2);
	net_destroy(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zippers_carry),
		cmocka_unit_test(paths_hang_together),
		cmocka_unit_test(forks_are_the_paths),
		cmocka_unit_test(paper_machine),
		cmocka_unit_test(slingshot_machines),
		cmocka_unit_test(tree_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
