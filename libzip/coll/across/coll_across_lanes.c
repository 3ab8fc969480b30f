/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions from one group of an intercommunicator to the other, see coll_across_lanes.h. */
#include "libzip/coll/across/coll_across_lanes.h"

#include "libzip/coll/inside/coll_counts.h"
#include "libzip/coll/across/coll_flight.h"
#include "libzip/coll/inside/coll_fold.h"
#include "libzip/coll/inside/coll_inside.h"
#include "libzip/coll/across/coll_leaders.h"
#include "libzip/coll/inside/coll_native.h"
#include "libzip/coll/across/coll_segments.h"
#include "libzip/coll/tune.h"

struct given_lane {
	int root; /* its leader: a rank in the shadow */
	bool mine;
	struct zinside in;
	void **temp;		/* mine: the sums of my part, of segments, [depth + 1] in turns */
	struct zflight *flight; /* of flights */
};

struct zgiving {
	struct zacross_sum sum;
	const void *sendbuf;
	struct zsegments g;
	struct given_lane *lanes; /* [g.lanes] */
	struct zflight *flights;  /* [g.lanes] */
};

struct taken_lane {
	int root;
	bool mine;
	/* mine: from all parts, but from the last one only if there is no result for its vectors to come into; of
	 * segments, [depth + 1] in turns */
	void ***temp;
	struct zflight *flight; /* of flights */
};

struct ztaking {
	struct zacross_sum sum;
	const struct zcomm *from;
	void *result; /* NULL: segments are scattered from temporary buffers */
	struct zacross_slots slots;
	char *recvbuf; /* what they are scattered to */
	struct zsegments g;
	struct taken_lane *lanes; /* [g.lanes] */
	struct zflight *flights;  /* [g.lanes] */
};

/* Both groups choose alike: what the one that gives is like counts. */
static struct zsegments cut(const struct zcomm *giving, const struct zcomm *taking, const struct zacross_sum *sum)
{
	bool share = sum->to == ZACROSS_SHARE;
	MPI_Count total = share ? sum->share.total : sum->count;
	struct ztuning_settings tune = ztune_choose(giving, sum->which, zbuf_wire_bytes(total, sum->type));
	int members = share ? 1 : giving->members_min;
	if (sum->to < 0 && taking->members_min < members)
		members = taking->members_min;
	return zsegments_cut(&tune, members, sum->count, sum->type);
}

/* Who leads lane l in a part with n members, by its number there. */
static int leader_of(const struct zacross_sum *sum, const struct zsegments *g, int n, int l)
{
	return sum->to == ZACROSS_SHARE ? zcoll_first(n, sum->share.leaders, sum->share.number)
					: zcoll_first(n, g->lanes, l);
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
	int rc = zflight_init(lane->flight, s, depth_of(&x->g));
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
	x->flights = zflight_lanes(s, x->g.lanes);
	int rc = x->lanes && x->flights ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		struct given_lane *lane = &x->lanes[l];
		*lane = (struct given_lane){.root = leader_of(sum, &x->g, c->nlocal, l), .flight = &x->flights[l]};
		lane->mine = lane->root == c->shadow_rank[c->rank];
		rc = zinside_init(&lane->in, s, &x->g.tune, zsegments_count(&x->g, 0), sum->type, sum->op, lane->root);
		if (rc == MPI_SUCCESS && lane->mine)
			rc = make_giving(s, x, lane);
	}
	return rc;
}

static int make_temps(struct zsched *s, const struct ztaking *x, struct taken_lane *lane)
{
	int n = x->from->nparts - (x->result != NULL), turns = turns_of(&x->g);
	int rc = zflight_init(lane->flight, s, depth_of(&x->g));
	lane->temp = zsched_alloc(s, (size_t)turns * sizeof *lane->temp);
	if (!lane->temp)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < turns && rc == MPI_SUCCESS; i++)
		rc = zbuf_temps(s, zsegments_count(&x->g, 0), x->sum.type, n, &lane->temp[i]);
	return rc;
}

/* A share that is for its leader alone need not be scattered. */
static void place_share(const struct zcomm *c, struct ztaking *x, void *recvbuf)
{
	const MPI_Count *edge = &x->slots.edges[leader_of(&x->sum, &x->g, c->nlocal, 0)];
	MPI_Count first = x->slots.first;
	x->recvbuf = recvbuf;
	if (first >= edge[0] && first + x->sum.count <= edge[1])
		x->result = zbuf_at(recvbuf, first - edge[0], zbuf_extent(x->sum.type));
}

int ztaking_create(struct zsched *s, const struct zacross_sum *sum, void *result, const struct zacross_slots *slots,
	struct ztaking **taking)
{
	struct zcomm *c = zsched_comm(s);
	struct ztaking *x = *taking = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct ztaking){.sum = *sum, .from = zsched_peers(s)};
	x->g = cut(x->from, c, sum);
	if (slots) {
		x->slots = *slots;
		place_share(c, x, result);
	} else {
		x->result = result;
	}
	x->lanes = zsched_alloc(s, (size_t)x->g.lanes * sizeof *x->lanes);
	x->flights = zflight_lanes(s, x->g.lanes);
	int rc = x->lanes && x->flights ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		struct taken_lane *lane = &x->lanes[l];
		*lane = (struct taken_lane){.root = leader_of(sum, &x->g, c->nlocal, l), .flight = &x->flights[l]};
		lane->mine = sum->to >= 0 || lane->root == c->shadow_rank[c->rank];
		if (lane->mine)
			rc = make_temps(s, x, lane);
	}
	return rc;
}

/* Where the other group's part p has its vectors of segment k come to lie, in turns. */
static void *input(const struct ztaking *x, const struct taken_lane *lane, int p, int k)
{
	return x->result && p == x->from->nparts - 1 ? zsegments_at(&x->g, x->result, k)
						     : lane->temp[turn_of(&x->g, k)][p];
}

static int receive(struct zsched *s, const struct ztaking *x, int l, int k)
{
	const struct zcomm *from = x->from;
	int rc = MPI_SUCCESS;
	zflight_begin(x->lanes[l].flight, s, k / x->g.lanes);
	for (int p = 0; p < from->nparts && rc == MPI_SUCCESS; p++)
		rc = zstep_recv(s, input(x, &x->lanes[l], p, k), zsegments_count(&x->g, k), x->sum.type,
			from->parts[p].member[leader_of(&x->sum, &x->g, from->parts[p].count, l)]);
	zflight_end(x->lanes[l].flight, s, k / x->g.lanes);
	return rc;
}

static int combine(struct zsched *s, const struct ztaking *x, int l, int k)
{
	int n = x->from->nparts;
	void *result = input(x, &x->lanes[l], n - 1, k);
	void **inputs = zfold_add(s, n, result, zsegments_count(&x->g, k), x->sum.type, x->sum.op);
	for (int p = 0; inputs && p < n; p++)
		inputs[p] = input(x, &x->lanes[l], p, k);
	return inputs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Segment k from its leader to those whose slots it has something of. */
static int scatter(struct zsched *s, const struct ztaking *x, const struct taken_lane *lane, int k)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Count low = x->slots.first + x->g.each * k, high = low + zsegments_count(&x->g, k);
	struct zcounts out;
	int me = c->shadow_rank[c->rank], rc = zcounts_make(s, &out);
	if (rc != MPI_SUCCESS)
		return rc;
	for (int i = 0; i < c->nlocal; i++) {
		const MPI_Count *edge = &x->slots.edges[i];
		MPI_Count from = edge[0] > low ? edge[0] : low, to = edge[1] < high ? edge[1] : high;
		out.of[i] = to > from ? to - from : 0;
	}
	zcounts_place(s, &out);
	MPI_Count at = low > x->slots.edges[me] && out.of[me] > 0 ? low - x->slots.edges[me] : 0;
	return znative_scatterv(s, lane->mine ? input(x, lane, x->from->nparts - 1, k) : NULL, out.of, out.at,
		x->sum.type, zbuf_at(x->recvbuf, at, x->g.extent), out.of[me], x->sum.type, lane->root);
}

static int take_and_spread(struct zsched *s, const struct ztaking *x, int l, int k)
{
	int rc = x->lanes[l].mine && x->from->nparts > 1 ? combine(s, x, l, k) : MPI_SUCCESS;
	if (x->sum.to == ZACROSS_SHARE && rc == MPI_SUCCESS)
		return x->result ? MPI_SUCCESS : scatter(s, x, &x->lanes[l], k);
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
	const struct zcomm_part *part = x->sum.to == ZACROSS_SHARE ? &zsched_peers(s)->parts[x->sum.share.part] : NULL;
	void *sum = lane->temp[turn_of(&x->g, k)];
	MPI_Count count = zsegments_count(&x->g, k);
	int rc = zinside_finish(&lane->in, s, zsegments_at(&x->g, x->sendbuf, k), sum, count);
	if (rc != MPI_SUCCESS)
		return rc;
	zflight_begin(lane->flight, s, k / x->g.lanes);
	if (x->sum.to == ZACROSS_ALL)
		rc = zbuild_to_leaders(s, sum, count, x->sum.type, x->g.lanes, l, &x->g.tune);
	else
		rc = zstep_send(s, sum, count, x->sum.type,
			part ? part->member[leader_of(&x->sum, &x->g, part->count, l)] : x->sum.to);
	zflight_end(lane->flight, s, k / x->g.lanes);
	return rc;
}

static int give_group(struct zsched *s, const struct zgiving *x, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k >= 0 && x->lanes[l].mine)
			rc = give(s, x, l, k);
	}
	return rc;
}

static int reduce_group(struct zsched *s, const struct zgiving *x, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k >= 0)
			rc = reduce_inside(s, x, l, k);
	}
	return rc;
}

static int receive_group(struct zsched *s, const struct ztaking *x, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k >= 0 && x->lanes[l].mine)
			rc = receive(s, x, l, k);
	}
	return rc;
}

static int spread_group(struct zsched *s, const struct ztaking *x, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.lanes && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k >= 0)
			rc = take_and_spread(s, x, l, k);
	}
	return rc;
}

static int add_round(struct zsched *s, struct zgiving **out, int nout, struct ztaking **in, int nin, int round)
{
	int rc = MPI_SUCCESS;
	for (int i = 0; i < nin && rc == MPI_SUCCESS; i++)
		rc = receive_group(s, in[i], round - 1);
	for (int i = 0; i < nout && rc == MPI_SUCCESS; i++)
		rc = give_group(s, out[i], round - 1);
	for (int i = 0; i < nout && rc == MPI_SUCCESS; i++)
		rc = reduce_group(s, out[i], round);
	for (int i = 0; i < nin && rc == MPI_SUCCESS; i++)
		rc = spread_group(s, in[i], round - 1 - depth_of(&in[i]->g));
	/* what crosses in this round for the last time */
	for (int i = 0; i < nout && rc == MPI_SUCCESS; i++)
		rc = zflight_land_lanes(out[i]->flights, s, &out[i]->g, round - depth_of(&out[i]->g));
	for (int i = 0; i < nin && rc == MPI_SUCCESS; i++)
		rc = zflight_land_lanes(in[i]->flights, s, &in[i]->g, round - depth_of(&in[i]->g));
	return rc;
}

/* Group i of the segments is reduced in round i, crosses in the next ones, and is combined and spread in the one after
 * them. */
int zacross_run(struct zsched *s, struct zgiving **out, int nout, struct ztaking **in, int nin)
{
	int rounds = 0, rc = MPI_SUCCESS;
	for (int i = 0; i < nout; i++) {
		int n = out[i]->g.groups + depth_of(&out[i]->g);
		rounds = n > rounds ? n : rounds;
	}
	for (int i = 0; i < nin; i++) {
		int n = in[i]->g.groups + 1 + depth_of(&in[i]->g);
		rounds = n > rounds ? n : rounds;
	}
	for (int round = 0; round < rounds && rc == MPI_SUCCESS; round++) {
		rc = add_round(s, out, nout, in, nin, round);
		zsched_round(s);
	}
	return rc;
}
