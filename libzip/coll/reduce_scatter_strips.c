/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce_scatter of long vectors in segments and by several leaders. */
#include "libzip/coll/reduce_scatter_strips.h"

#include "libzip/coll/across/flight.h"
#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/counts.h"
#include "libzip/coll/base/fold.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/coll/inside/subtotal.h"
#include "libzip/schedule/step.h"

/* The piece of the vector that leader number `strip` of each part makes for part p: for the members that the leader of
 * that number is in charge of there. */
struct piece {
	struct zsubtotal in;
	MPI_Count first, count, each; /* elements of the whole vector; of a segment */
	void **result;		      /* mine: of the segments, [depth + 1] in turns */
};

struct work {
	const void *sendbuf;
	MPI_Datatype type;
	MPI_Aint extent;
	MPI_Op op;
	int leaders, segments;
	int mine;	      /* number of the strip that I lead, or -1 */
	struct piece *pieces; /* [leaders][nparts] */
	/* Of my strip: the buffer for the sum, and those for the contributions of other parts, [depth] in turns. The
	 * contribution of the first other part comes into the sum's buffer. */
	void *sum, ***inputs;
	struct zflight flight;
};

static int leaders_of(const struct zcomm *c, const struct ztuning_settings *tune)
{
	return tune->leaders < c->members_min ? (int)tune->leaders : c->members_min;
}

static MPI_Count slot_count(const struct zcoll *a, int rank)
{
	return a->vector ? zvec_get(a->recvcounts, rank) : a->recvcount;
}

static MPI_Count piece_count(const struct zcomm *c, const struct zcoll *a, int leaders, int strip, int p)
{
	const struct zcomm_part *part = &c->parts[p];
	MPI_Count count = 0;
	for (int m = zleader_first(part->count, leaders, strip); m < zleader_first(part->count, leaders, strip + 1);
		m++)
		count += slot_count(a, part->member[m]);
	return count;
}

/* Every piece has as many segments as the longest one needs. */
static int count_segments(const struct zcomm *c, const struct zcoll *a, const struct ztuning_settings *tune)
{
	MPI_Count longest = 0;
	int leaders = leaders_of(c, tune);
	for (int strip = 0; strip < leaders; strip++)
		for (int p = 0; p < c->nparts; p++) {
			MPI_Count count = piece_count(c, a, leaders, strip, p);
			longest = count > longest ? count : longest;
		}
	MPI_Count n = (zbuf_wire_bytes(longest, a->recvtype) + tune->segment - 1) / tune->segment;
	n = n < longest ? n : longest;
	return n < 1 ? 1 : n > tune->segments ? (int)tune->segments : (int)n;
}

bool zreduce_scatter_strips_apply(const struct zsched *s, const struct zcoll *a, const struct ztuning_settings *tune)
{
	struct zcomm *c = zsched_comm(s);
	return leaders_of(c, tune) > 1 || count_segments(c, a, tune) > 1;
}

static MPI_Count segment_count(const struct piece *piece, int k)
{
	MPI_Count left = piece->count - piece->each * k;
	return left < 0 ? 0 : left < piece->each ? left : piece->each;
}

static int partner_in(const struct zcomm *c, const struct work *x, int p)
{
	return c->parts[p].member[zleader_first(c->parts[p].count, x->leaders, x->mine)];
}

static int make_results(struct zsched *s, const struct work *x, struct piece *piece)
{
	MPI_Count longest = segment_count(piece, 0);
	int depth = x->flight.depth;
	if (x->segments > 1)
		return zbuf_temps(s, longest, x->type, depth < x->segments ? depth + 1 : depth, &piece->result);
	piece->result = zsched_alloc(s, sizeof *piece->result);
	if (!piece->result)
		return MPI_ERR_NO_MEM;
	piece->result[0] = zsubtotal_place(&piece->in, s, longest);
	return piece->result[0] ? MPI_SUCCESS : zbuf_temp(s, longest, x->type, &piece->result[0]);
}

static void *result_of(const struct work *x, const struct piece *piece, int k)
{
	return piece->result ? piece->result[k % (x->flight.depth + 1)] : NULL;
}

static int make_pieces(struct zsched *s, struct work *x, const struct zcoll *a, const struct zslots *slots,
	const struct ztuning_settings *tune)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	x->pieces = zsched_alloc(s, (size_t)x->leaders * (size_t)c->nparts * sizeof *x->pieces);
	if (!x->pieces)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < x->leaders * c->nparts && rc == MPI_SUCCESS; i++) {
		struct piece *piece = &x->pieces[i];
		int strip = i / c->nparts, p = i % c->nparts, low = zleader_first(c->parts[p].count, x->leaders, strip);
		*piece = (struct piece){.first = zslots_displ(slots, c->parts[p].member[low]),
			.count = piece_count(c, a, x->leaders, strip, p)};
		piece->each = (piece->count + x->segments - 1) / x->segments;
		rc = zsubtotal_init(&piece->in, s, tune, piece->each, x->type, x->op,
			zleader_first(c->nlocal, x->leaders, strip));
		if (rc == MPI_SUCCESS && strip == x->mine)
			rc = make_results(s, x, piece);
	}
	return rc;
}

/* Does the sum come into the receive buffer? If that is for me alone; but a receive buffer that is the send buffer,
 * too, is needed up to the last segment. */
static bool sums_in_place(const struct zcomm *c, const struct work *x, const struct zcoll *a)
{
	return c->nlocal == x->leaders && (x->segments == 1 || a->sendbuf != MPI_IN_PLACE);
}

static int make_inputs(struct zsched *s, struct work *x, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	const struct piece *own = &x->pieces[x->mine * c->nparts + c->my_part];
	int rc = MPI_SUCCESS;
	x->inputs = zsched_alloc(s, (size_t)x->flight.depth * sizeof *x->inputs);
	if (!x->inputs)
		return MPI_ERR_NO_MEM;
	x->sum = a->recvbuf;
	if (!sums_in_place(c, x, a))
		rc = zbuf_temp(s, own->count, x->type, &x->sum);
	for (int i = 0; i < x->flight.depth && rc == MPI_SUCCESS; i++) {
		x->inputs[i] = zsched_alloc(s, (size_t)c->nparts * sizeof *x->inputs[i]);
		if (!x->inputs[i])
			return MPI_ERR_NO_MEM;
		for (int p = c->my_part > 0 ? 1 : 2; p < c->nparts && rc == MPI_SUCCESS; p++)
			if (p != c->my_part)
				rc = zbuf_temp(s, own->each, x->type, &x->inputs[i][p]);
	}
	return rc;
}

/* The buffer for part p's contribution to my segment k. */
static void *input_of(const struct zcomm *c, const struct work *x, int p, int k)
{
	const struct piece *own = &x->pieces[x->mine * c->nparts + c->my_part];
	if (p == (c->my_part > 0 ? 0 : 1))
		return zbuf_at(x->sum, own->each * k, x->extent);
	return x->inputs[k % x->flight.depth][p];
}

static int start_segment(struct zsched *s, const struct work *x, int k)
{
	int n = x->leaders * zsched_comm(s)->nparts, rc = MPI_SUCCESS;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		const struct piece *piece = &x->pieces[i];
		MPI_Count count = segment_count(piece, k);
		if (k == 0 || count > 0) /* an empty vector is reduced, too: does the operation fit the datatype? */
			rc = zsubtotal_start(&piece->in, s,
				zbuf_at(x->sendbuf, piece->first + piece->each * k, x->extent), result_of(x, piece, k),
				count);
	}
	return rc;
}

/* A leader exchanges segment k with its partners in the other parts. */
static int exchange_segment(struct zsched *s, struct work *x, int k)
{
	struct zcomm *c = zsched_comm(s);
	const struct piece *pieces = &x->pieces[x->mine * c->nparts], *own = &pieces[c->my_part];
	int rc = MPI_SUCCESS;
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		const struct piece *piece = &pieces[p];
		MPI_Count count = segment_count(piece, k);
		if (k == 0 || count > 0)
			rc = zsubtotal_finish(&piece->in, s,
				zbuf_at(x->sendbuf, piece->first + piece->each * k, x->extent), result_of(x, piece, k),
				count);
	}
	zflight_begin(&x->flight, s, k);
	for (int i = 1; i < c->nparts && rc == MPI_SUCCESS; i++) {
		int p = (c->my_part + i) % c->nparts;
		if (k == 0 || segment_count(own, k) > 0)
			rc = zstep_recv(s, input_of(c, x, p, k), segment_count(own, k), x->type, partner_in(c, x, p));
		if (rc == MPI_SUCCESS && (k == 0 || segment_count(&pieces[p], k) > 0))
			rc = zstep_send(s, result_of(x, &pieces[p], k), segment_count(&pieces[p], k), x->type,
				partner_in(c, x, p));
	}
	zflight_end(&x->flight, s, k);
	return rc;
}

static int fold_segment(struct zsched *s, const struct work *x, int k)
{
	struct zcomm *c = zsched_comm(s);
	const struct piece *own = &x->pieces[x->mine * c->nparts + c->my_part];
	void *sum = zbuf_at(x->sum, own->each * k, x->extent);
	void **inputs = zfold_add(s, c->nparts, sum, segment_count(own, k), x->type, x->op);
	for (int p = 0; inputs && p < c->nparts; p++)
		inputs[p] = p == c->my_part ? result_of(x, own, k) : input_of(c, x, p, k);
	return inputs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Leaders hand the sums out to the members that they are in charge of. */
static int hand_out(struct zsched *s, const struct zcoll *a, const struct zslots *slots, int leaders, const void *sum)
{
	struct zcomm *c = zsched_comm(s);
	struct zcounts out, in;
	int members, leader = zleader_mine(c, leaders, &members), rc = zcounts_make(s, &out);
	if (rc == MPI_SUCCESS)
		rc = zcounts_make(s, &in);
	if (rc != MPI_SUCCESS)
		return rc;
	in.of[leader] = zslots_count(slots, c->rank);
	for (int i = leader; i < leader + members && leader == zcomm_shadow_rank(c, c->rank); i++)
		out.of[i] = zslots_count(slots, c->shadow_to_rank[i]);
	zcounts_place(s, &out);
	return zinside_alltoallv(s, sum, out.of, out.at, a->recvtype, a->recvbuf, in.of, in.at, a->recvtype);
}

struct copy {
	const void *from;
	void *to;
	MPI_Count count;
	MPI_Datatype type;
};

static int copy_sum(struct zsched *s, void *arg)
{
	const struct copy *y = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zbuf_copy(s, y->from, y->count, y->type, y->to, y->count, y->type);
}

static int deliver(struct zsched *s, const struct work *x, const struct zcoll *a, const struct zslots *slots)
{
	struct zcomm *c = zsched_comm(s);
	if (c->nlocal > x->leaders)
		return hand_out(s, a, slots, x->leaders, x->sum);
	if (x->sum == a->recvbuf)
		return MPI_SUCCESS;
	struct copy *y = zsched_alloc(s, sizeof *y);
	if (!y)
		return MPI_ERR_NO_MEM;
	*y = (struct copy){.from = x->sum, .to = a->recvbuf, .count = zslots_count(slots, c->rank), .type = x->type};
	return zstep_call(s, copy_sum, y);
}

/* Segment k is reduced inside in round k, exchanged in the next rounds, and combined at the beginning of the round
 * behind them.
 */
int zreduce_scatter_strips_build(struct zsched *s, const struct zcoll *a, const struct zslots *slots,
	const struct ztuning_settings *tune)
{
	struct zcomm *c = zsched_comm(s);
	struct work *x = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	int leaders = leaders_of(c, tune);
	*x = (struct work){.sendbuf = a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf,
		.type = a->recvtype,
		.extent = slots->extent,
		.op = a->op,
		.leaders = leaders,
		.segments = count_segments(c, a, tune),
		.mine = zleader_number(c, leaders)};
	int depth = zflight_depth(tune, x->segments), rc = zflight_init(&x->flight, s, depth);
	if (rc == MPI_SUCCESS)
		rc = make_pieces(s, x, a, slots, tune);
	if (rc == MPI_SUCCESS && x->mine >= 0)
		rc = make_inputs(s, x, a);
	for (int round = 0; round < x->segments + 1 + depth && rc == MPI_SUCCESS; round++) {
		if (x->mine >= 0 && round > depth)
			rc = fold_segment(s, x, round - 1 - depth);
		if (rc == MPI_SUCCESS && x->mine >= 0 && round >= 1 && round <= x->segments)
			rc = exchange_segment(s, x, round - 1);
		if (rc == MPI_SUCCESS && round < x->segments)
			rc = start_segment(s, x, round);
		if (rc == MPI_SUCCESS && x->mine >= 0 && round >= depth && round < x->segments + depth)
			rc = zflight_land(&x->flight, s, round - depth);
		if (round < x->segments + depth)
			zsched_round(s);
	}
	if (rc == MPI_SUCCESS)
		rc = deliver(s, x, a, slots);
	zsched_round(s);
	return rc;
}
