/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive indirect: over random intermediate routers, drawn anew in every iteration, by what is left on the paths. */
#include "mapper/model/adapt.h"
#include "mapper/model/model.h"

static void ai_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	routing_draw_indirect(net, s, d, bits, opts->paths, p);
}

const struct routing routing_ai = {
	.name = "AI",
	.title = "Adaptive Indirect",
	.help = "over random intermediate routers, by what is left on the paths",
	.adaptive = true,
	.fresh = true,
	.draw = ai_draw,
	.spread = adapt_spread,
};
