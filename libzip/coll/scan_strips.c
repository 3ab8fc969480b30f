/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scan and MPI_Exscan of consecutive ranks. */
#include "libzip/coll/scan_strips.h"

#include <string.h>

#include "libzip/coll/across/fanout.h"
#include "libzip/coll/across/flight.h"
#include "libzip/coll/across/segments.h"
#include "libzip/coll/base/counts.h"
#include "libzip/coll/base/fold.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/schedule/step.h"

/* The stages that group i of the segments goes through in rounds i, i + 1 and so on. CROSS takes depth rounds. With one
 * strip there is no HAND_OVER. */
enum stage { INSIDE, HAND_OVER, CROSS, SPREAD, APPLY, STAGES };

struct strip {	      /* buffers of segments: [turns] */
	int from, to; /* ranks in the shadow: the member that sends my part's totals, and the one that gets those of the
		       * parts before */
	void **total; /* in `from`, and for MPI_Exscan in the last member; NULL: the receive buffer has the totals */
	void **prefix;		/* of the parts before mine; [prefixes] */
	int prefixes;		/* in `to`: turns; in others, which need one from SPREAD to APPLY: two */
	void ***inputs;		/* in `to`: [my_part] buffers for the parts before; the last one is in prefix */
	struct zflight *flight; /* of flights */
};

struct scan {
	const void *sendbuf;
	void *recvbuf;
	MPI_Datatype type;
	MPI_Op op;
	bool exclusive;
	bool sends, receives; /* my part */
	int me, last;	      /* ranks in the shadow */
	int depth,
		turns; /* turns: rounds that a buffer is in use at most: depth, and one before or behind it, or two */
	struct zsegments g;
	struct strip *strips;	 /* [g.strips] */
	struct zflight *flights; /* [g.strips] */
};

/* The argument of a step. */
struct work {
	const struct scan *x;
	const void *from;
	void *to;
	MPI_Count count;
};

static int add_work(struct zsched *s, int (*fn)(struct zsched *, void *), const struct work *w)
{
	struct work *copy = zsched_alloc(s, sizeof *copy);
	if (!copy)
		return MPI_ERR_NO_MEM;
	*copy = *w;
	return zstep_call(s, fn, copy);
}

static int copy_own(struct zsched *s, void *arg)
{
	const struct work *w = arg;
	(void)s;
	zbuf_copy_span(w->from, w->to, w->count, w->x->type);
	return MPI_SUCCESS;
}

static int combine(struct zsched *s, void *arg)
{
	const struct work *w = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zbuf_reduce(w->from, w->to, w->count, w->x->type, w->x->op);
}

static int copy_prefix(struct zsched *s, void *arg)
{
	const struct work *w = arg;
	MPI_Datatype type = w->x->type;
	return zsched_failed(s) ? MPI_SUCCESS : zbuf_copy(s, w->from, w->count, type, w->to, w->count, type);
}

/* Makes n buffers of one segment. */
static int make_turns(struct zsched *s, const struct scan *x, int n, void ***turns)
{
	return zbuf_temps(s, zsegments_count(&x->g, 0), x->type, n, turns);
}

static int make_inputs(struct zsched *s, const struct scan *x, struct strip *strip)
{
	int n = zsched_comm(s)->my_part, rc = MPI_SUCCESS;
	strip->inputs = zsched_alloc(s, (size_t)x->turns * sizeof *strip->inputs);
	if (!strip->inputs)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < x->turns && rc == MPI_SUCCESS; i++) {
		strip->inputs[i] = zsched_alloc(s, (size_t)n * sizeof(void *));
		if (!strip->inputs[i])
			return MPI_ERR_NO_MEM;
		strip->inputs[i][n - 1] = strip->prefix[i];
		for (int p = 0; p < n - 1 && rc == MPI_SUCCESS; p++)
			rc = zbuf_temp(s, zsegments_count(&x->g, 0), x->type, &strip->inputs[i][p]);
	}
	return rc;
}

static int sender_of(int members, const struct zsegments *g, int l)
{
	return members - 1 - zleader_first(members, g->strips, l);
}

static int make_strip(struct zsched *s, const struct scan *x, int l)
{
	struct zcomm *c = zsched_comm(s);
	struct strip *strip = &x->strips[l];
	*strip = (struct strip){.from = sender_of(c->nlocal, &x->g, l),
		.to = zleader_first(c->nlocal, x->g.strips, l),
		.flight = &x->flights[l]};
	strip->prefixes = x->me == strip->to || x->turns < 2 ? x->turns : 2;
	int rc = zflight_init(strip->flight, s, x->depth);
	if (rc == MPI_SUCCESS && x->sends && (x->me == x->last ? x->exclusive : x->me == strip->from))
		rc = make_turns(s, x, x->turns, &strip->total);
	if (rc == MPI_SUCCESS && x->receives)
		rc = make_turns(s, x, strip->prefixes, &strip->prefix);
	return rc == MPI_SUCCESS && x->receives && x->me == strip->to ? make_inputs(s, x, strip) : rc;
}

/* Segment k of a strip in its turn. */
struct segment {
	struct strip *strip;
	int l, k, i, turn; /* i: its group */
	MPI_Count count;
	void *recvbuf;
};

/* The buffer where the last member or the sender has my part's total. */
static void *total_of(const struct segment *g)
{
	return g->strip->total ? g->strip->total[g->turn] : g->recvbuf;
}

static void *prefix_of(const struct segment *g)
{
	return g->strip->prefix[g->i % g->strip->prefixes];
}

static int build_inside(struct zsched *s, const struct scan *x, const struct segment *g)
{
	const void *own = x->sendbuf == MPI_IN_PLACE ? g->recvbuf : zsegments_at(&x->g, x->sendbuf, g->k);
	const void *sendbuf = x->sendbuf == MPI_IN_PLACE ? MPI_IN_PLACE : own;
	int rc = MPI_SUCCESS;
	if (!x->exclusive)
		return zinside_scan(s, sendbuf, g->recvbuf, g->count, x->type, x->op);
	if (x->sends && x->me == x->last)
		rc = add_work(s, copy_own, &(struct work){x, own, total_of(g), g->count});
	return rc == MPI_SUCCESS ? zinside_exscan(s, sendbuf, g->recvbuf, g->count, x->type, x->op) : rc;
}

/* MPI_Exscan, in the last member: combines its own contribution with those before it. */
static int build_total(struct zsched *s, const struct scan *x, const struct segment *g)
{
	if (!x->exclusive || x->me != x->last || x->last == 0)
		return MPI_SUCCESS;
	return add_work(s, combine, &(struct work){x, g->recvbuf, total_of(g), g->count});
}

/* With several strips: hands the total over from the last member to the strip's sender. */
static int build_hand_over(struct zsched *s, const struct scan *x, const struct segment *g)
{
	int rc = build_total(s, x, g);
	if (rc != MPI_SUCCESS || g->strip->from == x->last)
		return rc;
	struct zcounts out = {NULL, NULL};
	if (x->me == x->last) {
		rc = zcounts_make(s, &out);
		if (rc != MPI_SUCCESS)
			return rc;
		out.of[g->strip->from] = g->count;
	}
	bool mine = x->me == g->strip->from;
	return zinside_scatterv(s, total_of(g), out.of, out.at, x->type, mine ? total_of(g) : NULL, mine ? g->count : 0,
		x->type, x->last);
}

static int send_total(struct zsched *s, const struct scan *x, const struct segment *g)
{
	struct zcomm *c = zsched_comm(s);
	int dest[ZCTL_PARTS_MAX], ndest = 0;
	for (int p = c->my_part + 1; p < c->nparts; p++)
		dest[ndest++] = c->parts[p].member[zleader_first(c->parts[p].count, x->g.strips, g->l)];
	return zfanout_send(s, total_of(g), g->count, x->type, dest, ndest, &x->g.tune);
}

static int build_cross(struct zsched *s, const struct scan *x, const struct segment *g)
{
	struct zcomm *c = zsched_comm(s);
	int rc = x->sends && x->g.strips == 1 ? build_total(s, x, g) : MPI_SUCCESS;
	zflight_begin(g->strip->flight, s, g->i);
	if (x->receives && x->me == g->strip->to) {
		for (int p = 0; p < c->my_part && rc == MPI_SUCCESS; p++)
			rc = zstep_recv(s, g->strip->inputs[g->turn][p], g->count, x->type,
				c->parts[p].member[sender_of(c->parts[p].count, &x->g, g->l)]);
	}
	if (rc == MPI_SUCCESS && x->sends && x->me == g->strip->from)
		rc = send_total(s, x, g);
	zflight_end(g->strip->flight, s, g->i);
	return rc;
}

static int build_spread(struct zsched *s, const struct scan *x, const struct segment *g)
{
	struct zcomm *c = zsched_comm(s);
	void *prefix = prefix_of(g);
	if (x->me == g->strip->to && c->my_part > 1) {
		void **inputs = zfold_add(s, c->my_part, prefix, g->count, x->type, x->op);
		if (!inputs)
			return MPI_ERR_NO_MEM;
		memcpy(inputs, g->strip->inputs[g->turn], (size_t)c->my_part * sizeof *inputs);
	}
	return c->nlocal > 1 ? zinside_bcast(s, prefix, g->count, x->type, g->strip->to) : MPI_SUCCESS;
}

static int build_apply(struct zsched *s, const struct scan *x, const struct segment *g)
{
	/* MPI_Exscan: nothing of its own part stands before the first member. */
	return add_work(s, x->exclusive && x->me == 0 ? copy_prefix : combine,
		&(struct work){x, prefix_of(g), g->recvbuf, g->count});
}

static int build_stage(struct zsched *s, const struct scan *x, int i, enum stage stage)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k < 0)
			continue;
		struct segment g = {&x->strips[l], l, k, i, i % x->turns, zsegments_count(&x->g, k),
			zsegments_at(&x->g, x->recvbuf, k)};
		if (stage == INSIDE)
			rc = build_inside(s, x, &g);
		if (stage == HAND_OVER && x->sends)
			rc = build_hand_over(s, x, &g);
		if (stage == CROSS)
			rc = build_cross(s, x, &g);
		if (stage == SPREAD && x->receives)
			rc = build_spread(s, x, &g);
		if (stage == APPLY && x->receives)
			rc = build_apply(s, x, &g);
	}
	return rc;
}

/* Messages come first and work last, as nothing starts while work is done. */
static int build_rounds(struct zsched *s, const struct scan *x)
{
	static const enum stage order[] = {CROSS, HAND_OVER, INSIDE, SPREAD, APPLY};
	int skipped = x->g.strips == 1, extra = x->depth - 1, rc = MPI_SUCCESS;
	for (int round = 0; round < x->g.groups + APPLY - skipped + extra && rc == MPI_SUCCESS; round++) {
		for (int j = 0; j < STAGES && rc == MPI_SUCCESS; j++) {
			int late = order[j] == INSIDE ? 0 : (int)order[j] - skipped;
			if (order[j] > CROSS)
				late += extra;
			if (!skipped || order[j] != HAND_OVER)
				rc = build_stage(s, x, round - late, order[j]);
		}
		if (rc == MPI_SUCCESS)
			rc = zflight_land_strips(x->flights, s, &x->g, round - (CROSS - skipped + extra));
		zsched_round(s);
	}
	return rc;
}

int zscan_strips_build(struct zsched *s, const struct zcoll *a, bool exclusive)
{
	struct zcomm *c = zsched_comm(s);
	struct scan *x = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	struct ztuning_settings tune = ztune_choose(c, ZTUNING_SCAN, zbuf_wire_bytes(a->recvcount, a->recvtype));
	*x = (struct scan){.sendbuf = a->sendbuf,
		.recvbuf = a->recvbuf,
		.type = a->recvtype,
		.op = a->op,
		.exclusive = exclusive,
		.sends = c->my_part<c->nparts - 1, .receives = c->my_part> 0,
		.me = zcomm_shadow_rank(c, c->rank),
		.last = c->nlocal - 1,
		.g = zsegments_cut(&tune, c->members_min, a->recvcount, a->recvtype)};
	x->depth = zflight_depth(&tune, x->g.groups);
	x->turns = x->depth + 2 < x->g.groups ? x->depth + 2 : x->g.groups;
	x->strips = zsched_alloc(s, (size_t)x->g.strips * sizeof *x->strips);
	x->flights = zflight_strips(s, x->g.strips);
	int rc = x->strips && x->flights ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++)
		rc = make_strip(s, x, l);
	return rc == MPI_SUCCESS ? build_rounds(s, x) : rc;
}
