/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks and predictions, see model_fixture.h. */
#include "mapper/net/topology.h"
#include "mapper/model/routing_table.h"
#include "test/unit/mapper/model_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct net *fixture_net(const char *text)
{
	struct zerr err = {""};
	struct net *net;

	if (topology_create(text, &net, &err))
		fail_msg("%s", err.text);
	return net;
}

double *fixture_predict(const struct net *net, const char *routing, const struct message *m, size_t n,
	const struct model_opts *opts)
{
	uint32_t src[64], dst[64];
	uint64_t bytes[64];
	struct model_result r;
	struct traffic t;
	struct model_flow flow = {routing_table_find(routing), &t};
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
