/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks and predictions, see model_fixture.h. */
#include "mapper/net/topology.h"
#include "mapper/model/routing_table.h"
#include "test/unit/mapper/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct net *fixture_net(const char *text)
{
	struct zerr err = {""};
	struct net *net;

	if (topology_create(text, &net, &err))
		fail_msg("%s", err.text);
	return net;
}

void fixture_traffic(struct traffic *t, const struct net *net, const struct message *m, size_t n)
{
	uint32_t src[64], dst[64];
	uint64_t bytes[64];
	struct zerr err = {""};

	assert_true(n <= 64);
	for (size_t i = 0; i < n; i++) {
		src[i] = m[i].src;
		dst[i] = m[i].dst;
		bytes[i] = m[i].bytes;
	}
	assert_int_equal(traffic_build_list(t, net->points, n, src, dst, bytes, &err), 0);
}

double *fixture_predict(const struct net *net, const char *routing, const struct message *m, size_t n,
	const struct model_opts *opts)
{
	struct model_result r;
	struct traffic t;
	struct model_flow flow = {routing_table_find(routing), &t};
	struct zerr err = {""};

	fixture_traffic(&t, net, m, n);
	if (model_predict(net, &flow, 1, opts, &r, &err))
		fail_msg("%s", err.text);
	traffic_free(&t);
	return r.load;
}

uint32_t fixture_link(const struct net *net, const char *name)
{
	char buf[64];

	for (uint32_t l = 0; l < net->links; l++) {
		if (net->link_class[l] == NET_NONE)
			continue;
		net->ops->link_name(net, l, buf, sizeof(buf));
		if (!strcmp(buf, name))
			return l;
	}
	fail_msg("no link %s", name);
	return 0;
}

void fixture_check_opts(const struct net *net, const char *routing, const struct model_opts *opts,
	const struct message *m, size_t n, const struct expected *e, size_t links)
{
	double *load = fixture_predict(net, routing, m, n, opts), all = 0, named = 0;

	for (size_t i = 0; i < links; i++) {
		double found = load[fixture_link(net, e[i].link)];

		if (found < e[i].bytes - 0.01 || found > e[i].bytes + 0.01)
			fail_msg("%s: %s carries %g, not %g", routing, e[i].link, found, e[i].bytes);
		named += found;
	}
	for (uint32_t l = 0; l < net->links; l++)
		all += load[l];
	assert_true(all - named < 0.01);
	free(load);
}

void fixture_check_net(const struct net *net, const char *routing, const struct message *m, size_t n,
	const struct expected *e, size_t links)
{
	struct model_opts opts;

	model_defaults(&opts);
	fixture_check_opts(net, routing, &opts, m, n, e, links);
}

void fixture_check(const char *network, const char *routing, const struct message *m, size_t n,
	const struct expected *e, size_t links)
{
	struct net *net = fixture_net(network);

	print_message("# %s on %s\n", routing, network);
	fixture_check_net(net, routing, m, n, e, links);
	net_destroy(net);
}
