/* SPDX-License-Identifier: BSD-3-Clause */
/* The adaptive routings. Each draws its paths; adapt.h divides a message among them. */
#include "mapper/model/route_adaptive.h"

#include "mapper/model/adapt.h"
#include "mapper/model/model.h"

static void ad_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	(void)opts;
	routing_draw_direct(net, s, d, bits, ROUTING_PATHS_MAX, p);
}

const struct routing route_adaptive_direct = {
	.name = "AD",
	.title = "Adaptive Direct",
	.help = "over the shortest paths, by the bandwidth left on them",
	.adaptive = true,
	.direct = true,
	.draw = ad_draw,
	.spread = adapt_spread,
};

static void ai_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	routing_draw_indirect(net, s, d, bits, opts->paths, p);
}

const struct routing route_adaptive_indirect = {
	.name = "AI",
	.title = "Adaptive Indirect",
	.help = "over random intermediate routers, by the bandwidth left on them",
	.adaptive = true,
	.fresh = true,
	.draw = ai_draw,
	.spread = adapt_spread,
};

static void ah_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	routing_draw_direct(net, s, d, bits, opts->direct_paths, p);
	routing_draw_indirect(net, s, d, bits, opts->paths, p);
}

const struct routing route_adaptive_hybrid = {
	.name = "AH",
	.title = "Adaptive Hybrid",
	.help = "up to two shortest paths and random indirect ones, by the bandwidth left on them",
	.adaptive = true,
	.fresh = true,
	.draw = ah_draw,
	.spread = adapt_spread,
};

const struct routing route_adaptive_local = {
	.name = "AL",
	.title = "Adaptive Local",
	.help = "over the paths of AH, by the bandwidth left on the first router's own links",
	.adaptive = true,
	.local = true,
	.fresh = true,
	.draw = ah_draw,
	.spread = adapt_spread,
};
