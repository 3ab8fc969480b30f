/* SPDX-License-Identifier: BSD-3-Clause */
/* Adaptive hybrid: some direct paths (two in the paper) and indirect ones, by what is left on them. */
#include "mapper/model/adapt.h"
#include "mapper/model/model.h"

static void ah_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	routing_draw_direct(net, s, d, bits, opts->direct_paths, p);
	routing_draw_indirect(net, s, d, bits, opts->paths, p);
}

const struct routing routing_ah = {
	.name = "AH",
	.title = "Adaptive Hybrid",
	.help = "up to two shortest paths and random indirect ones, by what is left on them",
	.adaptive = true,
	.fresh = true,
	.draw = ah_draw,
	.spread = adapt_spread,
};
