/* SPDX-License-Identifier: BSD-3-Clause */
/* Allreduce among one leader of each part. */
#include "libzip/coll/across/between.h"

#include "libzip/coll/across/fanout.h"
#include "libzip/coll/across/flight.h"
#include "libzip/coll/across/plan.h"
#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/fold.h"
#include "libzip/coll/base/leader.h"
#include "libzip/schedule/step.h"
#include "libzip/type/redop.h"

struct zbetween {
	enum ztuning_exchange how;
	struct ztuning_settings tune;
	int leaders, number;
	int nparts, mine, stages;
	int *partners;		/* [nparts]: ranks */
	struct zplan_hop *hops; /* of slices that are passed on: [stages - 1][nparts]; NULL: slices are sent directly */
	MPI_Datatype type;
	MPI_Aint extent;
	MPI_Op op;
	int depth, ntemps;
	void **temps; /* [depth][ntemps], segments in turns; all, slices: for each part; doubling: for each stage */
	struct zflight *flights; /* [stages] */
};

/* Doubling goes among as many parts as the largest power of two, the cube. `spare` parts are left over. Of the first
 * 2 * spare parts the even ones give their vector to their right neighbours in the first stage, and get the result from
 * these in the last stage. */
static int cube_of(int nparts)
{
	int cube = 1;
	while (cube * 2 <= nparts)
		cube *= 2;
	return cube;
}

static int dimensions(int cube)
{
	int d = 0;
	while (1 << d < cube)
		d++;
	return d;
}

int zbetween_stages(const struct zsched *s, const struct ztuning_settings *tune)
{
	int nparts = zsched_comm(s)->nparts, cube = cube_of(nparts);
	if (tune->exchange == ZTUNING_EXCHANGE_DOUBLING)
		return dimensions(cube) + (cube < nparts ? 2 : 0);
	if (tune->exchange == ZTUNING_EXCHANGE_ALL)
		return 1;
	return 1 + (zplan_is_used(s, tune) ? zplan_hops_steps(s, tune) : 1);
}

static MPI_Count slice_at(MPI_Count count, int nparts, int p)
{
	return count / nparts * p + (p < count % nparts ? p : count % nparts);
}

static MPI_Count slice_count(MPI_Count count, int nparts, int p)
{
	return slice_at(count, nparts, p + 1) - slice_at(count, nparts, p);
}

static void **temps_of(const struct zbetween *b, int i)
{
	return &b->temps[i % b->depth * b->ntemps];
}

static int make_temps(struct zsched *s, struct zbetween *b, MPI_Count longest)
{
	MPI_Count each = b->how == ZTUNING_EXCHANGE_SLICES ? slice_count(longest, b->nparts, 0) : longest;
	int rc = MPI_SUCCESS;
	b->temps = zsched_alloc(s, (size_t)b->depth * (size_t)b->ntemps * sizeof *b->temps);
	if (!b->temps)
		return MPI_ERR_NO_MEM;
	for (int t = 0; t < b->depth * b->ntemps && rc == MPI_SUCCESS; t++) {
		b->temps[t] = NULL;
		if (b->how == ZTUNING_EXCHANGE_DOUBLING || t % b->ntemps != b->mine)
			rc = zbuf_temp(s, each, b->type, &b->temps[t]);
	}
	return rc;
}

static int make_flights(struct zsched *s, struct zbetween *b)
{
	int rc = MPI_SUCCESS;
	b->flights = zsched_alloc(s, (size_t)b->stages * sizeof *b->flights);
	if (!b->flights)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < b->stages && rc == MPI_SUCCESS; i++)
		rc = zflight_init(&b->flights[i], s, b->depth);
	return rc;
}

struct zbetween *zbetween_create(struct zsched *s, const struct ztuning_settings *tune, int leaders, int number,
	int depth, MPI_Count longest, MPI_Datatype type, MPI_Op op)
{
	enum ztuning_exchange how = (enum ztuning_exchange)tune->exchange;
	struct zcomm *c = zsched_comm(s);
	struct zbetween *b = zsched_alloc(s, sizeof *b);
	if (!b)
		return NULL;
	*b = (struct zbetween){.how = how,
		.tune = *tune,
		.leaders = leaders,
		.number = number,
		.nparts = c->nparts,
		.mine = c->my_part,
		.stages = zbetween_stages(s, tune),
		.type = type,
		.extent = zbuf_extent(type),
		.op = op,
		.depth = depth};
	b->ntemps = how == ZTUNING_EXCHANGE_DOUBLING ? b->stages : b->nparts;
	b->partners = zsched_alloc(s, (size_t)c->nparts * sizeof *b->partners);
	if (!b->partners || make_temps(s, b, longest) != MPI_SUCCESS || make_flights(s, b) != MPI_SUCCESS)
		return NULL;
	if (how == ZTUNING_EXCHANGE_SLICES && zplan_is_used(s, tune) && !(b->hops = zplan_hops(s, tune)))
		return NULL;
	for (int p = 0; p < c->nparts; p++)
		b->partners[p] = c->parts[p].member[zleader_first(c->parts[p].count, leaders, number)];
	return b;
}

/* A step that combines the parts' contributions: mine is in result, the others are in the temporary buffers. */
static int add_fold(struct zsched *s, const struct zbetween *b, int i, void *result, MPI_Count count)
{
	void **inputs = zfold_add(s, b->nparts, result, count, b->type, b->op);
	for (int p = 0; inputs && p < b->nparts; p++)
		inputs[p] = p == b->mine ? result : temps_of(b, i)[p];
	return inputs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static int recv_from_all(struct zsched *s, const struct zbetween *b, int i, MPI_Count count)
{
	int rc = MPI_SUCCESS;
	for (int p = 0; p < b->nparts && rc == MPI_SUCCESS; p++)
		if (p != b->mine)
			rc = zstep_recv(s, temps_of(b, i)[p], count, b->type, b->partners[p]);
	return rc;
}

static int send_to_all(struct zsched *s, const struct zbetween *b, void *buf, MPI_Count count)
{
	return zfanout_to_leaders(s, buf, count, b->type, b->leaders, b->number, &b->tune);
}

static int add_all(struct zsched *s, const struct zbetween *b, int i, int stage, void *result, MPI_Count count)
{
	if (stage > b->stages)
		return add_fold(s, b, i, result, count);
	zflight_begin(&b->flights[0], s, i);
	int rc = recv_from_all(s, b, i, count);
	return rc == MPI_SUCCESS ? send_to_all(s, b, result, count) : rc;
}

static int add_slice(struct zsched *s, const struct zbetween *b, void *result, MPI_Count count, int p, bool sends,
	int partner)
{
	MPI_Count n = slice_count(count, b->nparts, p);
	void *slice = zbuf_at(result, slice_at(count, b->nparts, p), b->extent);
	if (n == 0)
		return MPI_SUCCESS;
	return sends ? zstep_send(s, slice, n, b->type, b->partners[partner])
		     : zstep_recv(s, slice, n, b->type, b->partners[partner]);
}

/* Passes the slices of all parts one step further. */
static int pass_slices(struct zsched *s, const struct zbetween *b, int step, void *result, MPI_Count count)
{
	const struct zplan_hop *hops = &b->hops[step * b->nparts];
	int rc = MPI_SUCCESS;
	for (int p = 0; p < b->nparts && rc == MPI_SUCCESS; p++) {
		if (hops[p].from >= 0)
			rc = add_slice(s, b, result, count, p, false, hops[p].from);
		if (hops[p].to >= 0 && rc == MPI_SUCCESS)
			rc = add_slice(s, b, result, count, p, true, hops[p].to);
	}
	return rc;
}

static int add_slices(struct zsched *s, const struct zbetween *b, int i, int stage, void *result, MPI_Count count)
{
	MPI_Count mine = slice_count(count, b->nparts, b->mine);
	void *own = zbuf_at(result, slice_at(count, b->nparts, b->mine), b->extent);
	int rc = MPI_SUCCESS;
	if (stage > b->stages)
		return MPI_SUCCESS;
	if (stage == 2 && mine > 0)
		rc = add_fold(s, b, i, own, mine);
	zflight_begin(&b->flights[stage - 1], s, i);
	if (stage == 1 && mine > 0)
		rc = recv_from_all(s, b, i, mine);
	if (stage > 1 && b->hops)
		return rc == MPI_SUCCESS ? pass_slices(s, b, stage - 2, result, count) : rc;
	for (int j = 1; j < b->nparts && rc == MPI_SUCCESS; j++) {
		int p = (b->mine + j) % b->nparts;
		rc = add_slice(s, b, result, count, p, stage == 1, p);
	}
	return rc == MPI_SUCCESS && stage == 2 && mine > 0 ? send_to_all(s, b, own, mine) : rc;
}

/* The vectors of two neighbours, which both combine in the order of the parts. */
struct pair {
	const struct zbetween *b;
	void *other, *result;
	MPI_Count count;
	bool other_first;
};

static int combine_pair(struct zsched *s, void *arg)
{
	struct pair *x = arg;
	const struct zbetween *b = x->b;
	if (zsched_failed(s))
		return MPI_SUCCESS;
	if (x->other_first || zredop_exchanges(b->op, b->type))
		return zbuf_reduce(x->other, x->result, x->count, b->type, b->op);
	int rc = zbuf_reduce(x->result, x->other, x->count, b->type, b->op);
	return rc == MPI_SUCCESS ? zbuf_copy(s, x->other, x->count, b->type, x->result, x->count, b->type) : rc;
}

static int add_pair(struct zsched *s, const struct zbetween *b, void *other, bool other_first, void *result,
	MPI_Count count)
{
	struct pair *x = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct pair){.b = b, .other = other, .result = result, .count = count, .other_first = other_first};
	return zstep_call(s, combine_pair, x);
}

/* The part that one part exchanges with in one stage of the doubling. */
struct turn {
	int partner;			/* a part; -1: there is no exchange */
	bool sends, receives, replaces; /* replaces: it receives the result */
};

static struct turn turn_of(const struct zbetween *b, int stage)
{
	int cube = cube_of(b->nparts), spare = b->nparts - cube, part = b->mine;
	struct turn idle = {.partner = -1};
	if (stage < 1 || stage > b->stages)
		return idle;
	if (spare > 0 && (stage == 1 || stage == b->stages)) {
		if (part >= 2 * spare)
			return idle;
		bool gives = (part % 2 == 0) == (stage == 1);
		return (struct turn){.partner = part ^ 1, .sends = gives, .receives = !gives, .replaces = stage > 1};
	}
	if (part < 2 * spare && part % 2 == 0)
		return idle;
	int corner = part < 2 * spare ? part / 2 : part - spare;
	int other = corner ^ 1 << (stage - 1 - (spare > 0));
	return (struct turn){.partner = other < spare ? 2 * other + 1 : other + spare, .sends = true, .receives = true};
}

static int add_doubling(struct zsched *s, const struct zbetween *b, int i, int stage, void *result, MPI_Count count)
{
	struct turn before = turn_of(b, stage - 1), now = turn_of(b, stage);
	void **temps = temps_of(b, i);
	int rc = MPI_SUCCESS;
	if (before.receives && !before.replaces)
		rc = add_pair(s, b, temps[stage - 2], before.partner < b->mine, result, count);
	if (stage <= b->stages)
		zflight_begin(&b->flights[stage - 1], s, i);
	if (rc == MPI_SUCCESS && now.receives)
		rc = zstep_recv(s, now.replaces ? result : temps[stage - 1], count, b->type, b->partners[now.partner]);
	if (rc == MPI_SUCCESS && now.sends)
		rc = zstep_send(s, result, count, b->type, b->partners[now.partner]);
	return rc;
}

/* Work first, then zflight_begin, then messages. */
static int add_stage(struct zsched *s, const struct zbetween *b, int i, int stage, void *result, MPI_Count count)
{
	if (b->how == ZTUNING_EXCHANGE_DOUBLING)
		return add_doubling(s, b, i, stage, result, count);
	return b->how == ZTUNING_EXCHANGE_SLICES ? add_slices(s, b, i, stage, result, count)
						 : add_all(s, b, i, stage, result, count);
}

int zbetween_add(struct zsched *s, struct zbetween *b, int i, int stage, void *result, MPI_Count count)
{
	int rc = add_stage(s, b, i, stage, result, count);
	if (rc == MPI_SUCCESS && stage <= b->stages)
		zflight_end(&b->flights[stage - 1], s, i);
	return rc;
}

int zbetween_land(struct zsched *s, const struct zbetween *b, int i, int stage)
{
	return zflight_land(&b->flights[stage - 1], s, i);
}
