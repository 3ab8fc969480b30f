/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive direct: a message is divided among its shortest paths in proportion to the bandwidth it gets on them. Where
 * there are more than ROUTING_PATHS_MAX of them (fat trees), among so many that are drawn once for each pair. */
#include "mapper/model/adapt.h"
#include "mapper/model/model.h"

static void ad_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	(void)opts;
	routing_draw_direct(net, s, d, bits, ROUTING_PATHS_MAX, p);
}

const struct routing routing_ad = {
	.name = "AD",
	.title = "Adaptive Direct",
	.help = "over the shortest paths, by what is left on them",
	.adaptive = true,
	.direct = true,
	.draw = ad_draw,
	.spread = adapt_spread,
};
