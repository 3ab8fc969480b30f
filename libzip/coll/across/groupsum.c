/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction from one group of an intercommunicator to the other: how its vector is cut. */
#include "libzip/coll/across/groupsum.h"

#include "libzip/coll/across/flight.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/tune.h"

struct zsegments zgroupsum_cut(const struct zcomm *giving, const struct zcomm *taking, const struct zgroupsum *sum)
{
	bool share = sum->to == ZGROUPSUM_SHARE;
	MPI_Count total = share ? sum->share.total : sum->count;
	struct ztuning_settings tune = ztune_choose(giving, sum->which, zbuf_wire_bytes(total, sum->type));
	int members = share ? 1 : giving->members_min;
	if (sum->to < 0 && taking->members_min < members)
		members = taking->members_min;
	return zsegments_cut(&tune, members, sum->count, sum->type);
}

int zgroupsum_leader(const struct zgroupsum *sum, const struct zsegments *g, int n, int l)
{
	return sum->to == ZGROUPSUM_SHARE ? zleader_first(n, sum->share.leaders, sum->share.number)
					  : zleader_first(n, g->strips, l);
}

int zgroupsum_depth(const struct zsegments *g)
{
	return zflight_depth(&g->tune, g->groups);
}

int zgroupsum_turns(const struct zsegments *g)
{
	return zgroupsum_depth(g) < g->groups ? zgroupsum_depth(g) + 1 : g->groups;
}

int zgroupsum_turn(const struct zsegments *g, int k)
{
	return k / g->strips % zgroupsum_turns(g);
}
