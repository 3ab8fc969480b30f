/* SPDX-License-Identifier: BSD-3-Clause */
/* Static direct: a message is divided evenly among its shortest paths. */
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

const struct routing routing_sd = {
	.name = "SD",
	.title = "Static Direct",
	.help = "evenly over all shortest paths",
	.direct = true,
	.draw = sd_draw,
	.spread = sd_spread,
};
