/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions from one group of an intercommunicator to the other, see coll_across_lanes.h. */
#include "coll_across_lanes.h"

#include "coll_flight.h"
#include "coll_fold.h"
#include "coll_inside.h"
#include "coll_leaders.h"
#include "coll_native.h"
#include "coll_segments.h"
#include "tune.h"

struct given_lane {
	int root; /* its leader: a rank in the shadow */
	bool mine;
	struct zinside in;
	void **temp; /* mine: the sums of my part, of segments, [depth + 1] in turns */
	struct zflight flight;
};

struct zgiving {
	struct zacross_sum sum;
	const void *sendbuf;
	struct zsegments g;
	struct given_lane *lanes; /* [g.lanes] */
};

struct taken_lane {
	int root;
	bool mine;
	/* mine: from all parts but the last, whose vector comes into the result's place; of segments, [depth + 1] in
	 * turns */
	void ***temp;
	struct zflight flight;
};

struct ztaking {
	struct zacross_sum sum;
	const struct zcomm *from;
	void *result;
	struct zsegments g;
	struct taken_lane *lanes; /* [g.lanes] */
};

/* Both groups choose alike: what the one that gives is like counts. */
static struct zsegments cut(const struct zcomm *giving, const struct zcomm *taking, const struct zacross_sum *sum)
{
	struct ztuning_settings tune = ztune_choose(giving, sum->which, zbuf_wire_bytes(sum->count, sum->type));
	int members = giving->members_min;
	if (sum->to < 0 && taking->members_min < members)
		members = taking->members_min;
	return zsegments_cut(&tune, members, sum->count, sum->type);
}

static int depth_of(const struct zsegments *g)
{
	return zflight_depth(&g->tune, g->groups);
}

/* So many buffers of segments are in use at a time. */
static int turns_of(const struct zsegments *g)
{
	return depth_of(g) < g->groups ? depth_of(g) + 1 : g->groups;
}

static int turn_of(const struct zsegments *g, int k)
{
	return k / g->lanes % turns_of(g);
}

static int make_giving(struct zsched *s, const struct zgiving *x, struct given_lane *lane)
{
	int rc = zflight_init(&lane->flight, s, depth_of(&x->g));
	return rc == MPI_SUCCESS ? zbuf_temps(s, zsegments_count(&x->g, 0), x->sum.type, turns_of(&x->g), &lane->temp)
				 : rc;
}

int zgiving_create(struct zsched *s, const struct zacross_sum *sum, const void *sendbuf, struct zgiving **giving)
{
	struct zcomm *c = zsched_comm(s);
	struct zgiving *x = *giving = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct zgiving){.sum = *sum, .sendbuf = sendbuf, .g = cut(c, zsched_peers(s), sum)};
	x->lanes = zsched_alloc(s, (size_t)x->g.lanes * sizeof *x->lanes);
	int rc = x->lanes ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		struct given_lane *lane = &x->lanes[l];
		*lane = (struct given_lane){.root = zcoll_first(c->nlocal, x->g.lanes, l)};
		lane->mine = lane->root == c->shadow_rank[c->rank];
		rc = zinside_init(&lane->in, s, &x->g.tune, zsegments_count(&x->g, 0), sum->type, sum->op, lane->root);
		if (rc == MPI_SUCCESS && lane->mine)
			rc = make_giving(s, x, lane);
	}
	return rc;
}

static int make_temps(struct zsched *s, const struct ztaking *x, struct taken_lane *lane)
{
	int n = x->from->nparts - 1, turns = turns_of(&x->g), rc = zflight_init(&lane->flight, s, depth_of(&x->g));
	lane->temp = zsched_alloc(s, (size_t)turns * sizeof *lane->temp);
	if (!lane->temp)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < turns && rc == MPI_SUCCESS; i++)
		rc = zbuf_temps(s, zsegments_count(&x->g, 0), x->sum.type, n, &lane->temp[i]);
	return rc;
}

int ztaking_create(struct zsched *s, const struct zacross_sum *sum, void *result, struct ztaking **taking)
{
	struct zcomm *c = zsched_comm(s);
	struct ztaking *x = *taking = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct ztaking){.sum = *sum, .from = zsched_peers(s), .result = result};
	x->g = cut(x->from, c, sum);
	x->lanes = zsched_alloc(s, (size_t)x->g.lanes * sizeof *x->lanes);
	int rc = x->lanes ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		struct taken_lane *lane = &x->lanes[l];
		*lane = (struct taken_lane){.root = zcoll_first(c->nlocal, x->g.lanes, l)};
		lane->mine = sum->to >= 0 || lane->root == c->shadow_rank[c->rank];
		if (lane->mine)
			rc = make_temps(s, x, lane);
	}
	return rc;
}

/* Where the other group's part p has its vectors of segment k come to lie, in turns. */
static void *input(const struct ztaking *x, const struct taken_lane *lane, int p, int k)
{
	return p == x->from->nparts - 1 ? zsegments_at(&x->g, x->result, k) : lane->temp[turn_of(&x->g, k)][p];
}

static int receive(struct zsched *s, const struct ztaking *x, int l, int k)
{
	const struct zcomm *from = x->from;
	int rc = MPI_SUCCESS;
	zflight_begin(&x->lanes[l].flight, s, k / x->g.lanes);
	for (int p = 0; p < from->nparts && rc == MPI_SUCCESS; p++)
		rc = zsched_recv(s, input(x, &x->lanes[l], p, k), zsegments_count(&x->g, k), x->sum.type,
			from->parts[p].member[zcoll_first(from->parts[p].count, x->g.lanes, l)]);
	zflight_end(&x->lanes[l].flight, s, k / x->g.lanes);
	return rc;
}

static int combine(struct zsched *s, const struct ztaking *x, int l, int k)
{
	int n = x->from->nparts;
	struct zfold *f = zsched_alloc(s, sizeof *f);
	void **inputs = zsched_alloc(s, (size_t)n * sizeof *inputs);
	if (!f || !inputs)
		return MPI_ERR_NO_MEM;
	for (int p = 0; p < n; p++)
		inputs[p] = input(x, &x->lanes[l], p, k);
	*f = (struct zfold){.count = zsegments_count(&x->g, k),
		.type = x->sum.type,
		.op = x->sum.op,
		.n = n,
		.inputs = inputs,
		.result = inputs[n - 1]};
	return zsched_call(s, zfold_call, f);
}

static int take_and_spread(struct zsched *s, const struct ztaking *x, int l, int k)
{
	int rc = x->lanes[l].mine && x->from->nparts > 1 ? combine(s, x, l, k) : MPI_SUCCESS;
	if (rc != MPI_SUCCESS || x->sum.to >= 0 || zsched_comm(s)->nlocal == 1)
		return rc;
	return znative_bcast(s, zsegments_at(&x->g, x->result, k), zsegments_count(&x->g, k), x->sum.type,
		x->lanes[l].root);
}

static int reduce_inside(struct zsched *s, const struct zgiving *x, int l, int k)
{
	const struct given_lane *lane = &x->lanes[l];
	return zinside_start(&lane->in, s, zsegments_at(&x->g, x->sendbuf, k),
		lane->mine ? lane->temp[turn_of(&x->g, k)] : NULL, zsegments_count(&x->g, k));
}

static int give(struct zsched *s, const struct zgiving *x, int l, int k)
{
	struct given_lane *lane = &x->lanes[l];
	void *sum = lane->temp[turn_of(&x->g, k)];
	MPI_Count count = zsegments_count(&x->g, k);
	int rc = zinside_finish(&lane->in, s, zsegments_at(&x->g, x->sendbuf, k), sum, count);
	if (rc != MPI_SUCCESS)
		return rc;
	zflight_begin(&lane->flight, s, k / x->g.lanes);
	rc = x->sum.to >= 0 ? zsched_send(s, sum, count, x->sum.type, x->sum.to)
			    : zbuild_to_leaders(s, sum, count, x->sum.type, x->g.lanes, l, &x->g.tune);
	zflight_end(&lane->flight, s, k / x->g.lanes);
	return rc;
}

static int add_giving(struct zsched *s, const struct zgiving *x, int round)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, round - 1, l);
		if (k >= 0 && x->lanes[l].mine)
			rc = give(s, x, l, k);
	}
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, round, l);
		if (k >= 0)
			rc = reduce_inside(s, x, l, k);
	}
	return rc;
}

/* What crosses in this round for the last time. */
static int land(struct zsched *s, const struct zgiving *out, const struct ztaking *in, int round)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; out && l < out->g.lanes && rc == MPI_SUCCESS; l++) {
		int i = round - depth_of(&out->g);
		if (out->lanes[l].mine && zsegments_number(&out->g, i, l) >= 0)
			rc = zflight_land(&out->lanes[l].flight, s, i);
	}
	for (int l = 0; in && l < in->g.lanes && rc == MPI_SUCCESS; l++) {
		int i = round - depth_of(&in->g);
		if (in->lanes[l].mine && zsegments_number(&in->g, i, l) >= 0)
			rc = zflight_land(&in->lanes[l].flight, s, i);
	}
	return rc;
}

/* Group i of the segments is reduced in round i, crosses in the next ones, and is combined and spread in the one after
 * them. */
int zacross_run(struct zsched *s, struct zgiving *out, struct ztaking *in)
{
	int rounds = out ? out->g.groups + depth_of(&out->g) : 0, rc = MPI_SUCCESS;
	if (in && in->g.groups + 1 + depth_of(&in->g) > rounds)
		rounds = in->g.groups + 1 + depth_of(&in->g);
	for (int round = 0; round < rounds && rc == MPI_SUCCESS; round++) {
		for (int l = 0; in && l < in->g.lanes && rc == MPI_SUCCESS; l++) {
			int k = zsegments_number(&in->g, round - 1, l);
			if (k >= 0 && in->lanes[l].mine)
				rc = receive(s, in, l, k);
		}
		if (out && rc == MPI_SUCCESS)
			rc = add_giving(s, out, round);
		for (int l = 0; in && l < in->g.lanes && rc == MPI_SUCCESS; l++) {
			int k = zsegments_number(&in->g, round - 1 - depth_of(&in->g), l);
			if (k >= 0)
				rc = take_and_spread(s, in, l, k);
		}
		if (rc == MPI_SUCCESS)
			rc = land(s, out, in, round);
		zsched_round(s);
	}
	return rc;
}
