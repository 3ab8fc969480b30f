/* SPDX-License-Identifier: BSD-3-Clause */
/* Static indirect: each packet over a random intermediate router; here the exact expectation. */
#include "mapper/model/model.h"

static void si_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	routing_draw_indirect(net, s, d, bits, opts->paths, p);
}

static int si_spread(const struct routing_job *job)
{
	return job->net->ops->load_indirect(job->net, job->flow->traffic, job->opts->threads, job->load);
}

const struct routing routing_si = {
	.name = "SI",
	.title = "Static Indirect",
	.help = "over random intermediate routers, exact expectation",
	.fresh = true,
	.draw = si_draw,
	.spread = si_spread,
};
