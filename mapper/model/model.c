/* SPDX-License-Identifier: BSD-3-Clause */
/* A prediction from begin to end: allocation where a routing needs it, loads of all flows, conservation of bytes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/model/adapt.h"
#include "mapper/model/model.h"

/* Relative error. Floats decide the split, but the shares of a split add up; sums are kept in double over 10^8
 * messages. */
#define CONSERVED 1e-6

static void progress_none(void *arg, const char *what, double done)
{
	(void)arg;
	(void)what;
	(void)done;
}

void model_defaults(struct model_opts *o)
{
	*o = (struct model_opts){
		.threads = 1,
		.seed = 1,
		.paths = 4,
		.direct_paths = 2,
		.exposure = 50,
		.iterations = 80,
		.patience = 3,
		.cutoff = 2e-6,
		.work = 20000000, /* with 80 iterations three to five minutes on two idle cores of 2026 */
		.packet = 65536,
		.progress = progress_none,
	};
}

static int conservation_check(const struct net *net, const struct model_result *r, struct zerr *err)
{
	double sum = 0;

	for (uint32_t l = 0; l < net->links; l++) {
		if (net->link_class[l] == NET_NONE)
			continue;
		if (!(r->load[l] >= 0))
			return zerr_set(err, -EPROTO, "bug: link %u has load %g", l, r->load[l]);
		sum += r->load[l];
	}
	if (!(fabs(sum - r->byte_hops) <= CONSERVED * r->byte_hops))
		return zerr_set(err, -EPROTO, "bug: the links carry %.17g bytes, the messages make %.17g byte hops",
			sum, r->byte_hops);
	return 0;
}

static int flows_spread(const struct net *net, const struct model_flow *flows, unsigned nflows,
	const struct model_opts *opts, struct adapt *adapt, struct model_result *r, struct zerr *err)
{
	struct net_load load = {.bytes = r->load};
	int rc;

	for (unsigned f = 0; f < nflows; f++) {
		struct routing_job job =
			{.net = net, .flow = &flows[f], .number = f, .opts = opts, .adapt = adapt, .load = &load};

		rc = flows[f].routing->spread(&job);
		if (rc == -ENOTSUP)
			return zerr_set(err, rc, "%s %s", flows[f].routing->name, flows[f].routing->unknown);
		if (rc)
			return zerr_set(err, rc, "%s: %s", flows[f].routing->name, strerror(-rc));
		r->bytes += flows[f].traffic->bytes;
	}
	r->byte_hops = load.byte_hops;
	return 0;
}

int model_predict(const struct net *net, const struct model_flow *flows, unsigned nflows, const struct model_opts *opts,
	struct model_result *r, struct zerr *err)
{
	struct adapt *adapt = NULL;
	bool adaptive = false;
	int rc = 0;

	memset(r, 0, sizeof(*r));
	r->turns = 1;
	r->converged = true;
	for (unsigned f = 0; f < nflows; f++) {
		adaptive |= flows[f].routing->adaptive;
		if (flows[f].routing->local && net->own_slot == NET_OWN_DIFFER)
			return zerr_set(err, -ENOTSUP,
				"%s: in some parts a path begins with the link of a node, not in all",
				flows[f].routing->name);
		if (flows[f].traffic->bytes > TRAFFIC_BYTES_MAX)
			return zerr_set(err, -ERANGE, "more than 2^52 bytes in one phase");
	}
	r->load = calloc(net->links, sizeof(*r->load));
	if (!r->load)
		return zerr_set(err, -ENOMEM, "not enough memory for the loads of %u links", net->links);
	if (adaptive)
		rc = adapt_solve(&adapt, net, flows, nflows, opts, r, err);
	if (!rc)
		rc = flows_spread(net, flows, nflows, opts, adapt, r, err);
	if (adapt)
		r->starved = adapt_starved(adapt);
	adapt_destroy(adapt);
	if (!rc)
		rc = conservation_check(net, r, err);
	for (uint32_t l = 0; l < net->links && !rc; l++) {
		double seconds = r->load[l] / (double)net->capacity[l];

		if (net->link_class[l] != NET_NONE && seconds > r->seconds)
			r->seconds = seconds;
	}
	if (rc)
		model_result_free(r);
	return rc;
}

void model_result_free(struct model_result *r)
{
	free(r->load);
	memset(r, 0, sizeof(*r));
}
