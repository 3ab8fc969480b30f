/* SPDX-License-Identifier: BSD-3-Clause */
/* The static routings, by closed forms of the topologies. */
#include "mapper/model/route_static.h"

#include <errno.h>

#include "mapper/model/model.h"

static void sd_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	(void)opts;
	routing_draw_direct(net, s, d, bits, ROUTING_PATHS_MAX, p);
}

static int sd_spread(const struct routing_job *job)
{
	return job->net->ops->load_direct(job->net, job->flow->traffic, job->opts->threads, job->load);
}

const struct routing route_static_direct = {
	.name = "SD",
	.title = "Static Direct",
	.help = "evenly over all shortest paths",
	.direct = true,
	.draw = sd_draw,
	.spread = sd_spread,
};

static void si_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	routing_draw_indirect(net, s, d, bits, opts->paths, p);
}

static int si_spread(const struct routing_job *job)
{
	return job->net->ops->load_indirect(job->net, job->flow->traffic, job->opts->threads, job->load);
}

const struct routing route_static_indirect = {
	.name = "SI",
	.title = "Static Indirect",
	.help = "over random intermediate routers, exact expectation",
	.fresh = true,
	.unknown = "has no closed form on this network; SIP samples it",
	.draw = si_draw,
	.spread = si_spread,
};

static int ecmp_spread(const struct routing_job *job)
{
	const struct net_ops *ops = job->net->ops;

	return ops->load_ecmp ? ops->load_ecmp(job->net, job->flow->traffic, job->opts->threads, job->load) : -ENOTSUP;
}

const struct routing route_static_ecmp = {
	.name = "ECMP",
	.title = "Equal-Cost Multi-Path",
	.help = "over shortest paths, at each router evenly over the links that lead on",
	.unknown = "is not known for this network; SD divides evenly over all shortest paths",
	.draw = sd_draw,
	.spread = ecmp_spread,
};
