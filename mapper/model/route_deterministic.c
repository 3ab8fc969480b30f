/* SPDX-License-Identifier: BSD-3-Clause */
/* Deterministic routing: the topology says which path it is. */
#include "mapper/model/route_deterministic.h"

#include "mapper/model/model.h"

static void det_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	(void)opts;
	(void)bits;
	net->ops->direct(net, s, d, net_single(net, s, d), path_set_add(p, net->direct_slots));
}

static int det_spread(const struct routing_job *job)
{
	return net_load_single(job->net, job->flow->traffic, job->opts->threads, job->load);
}

const struct routing route_deterministic = {
	.name = "DET",
	.title = "Deterministic",
	.help = "over one shortest path, which the destination chooses (D-mod-K in fat trees)",
	.draw = det_draw,
	.spread = det_spread,
};
