/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allgather. A native allgather inside each part writes straight into the receive buffer. Then the leaders exchange
 * the slots of their parts, each those of the members that it is in charge of, and spread inside the data that have
 * come: large pieces in segments while the rest is still arriving. Between three parts and more, leaders may pass
 * pieces on to each other instead (plan.h).
 */
#include "libzip/coll/allgather.h"

#include "libzip/coll/across/across.h"
#include "libzip/coll/across/fanout.h"
#include "libzip/coll/across/plan.h"
#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/slots.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inside/collect.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/coll/inside/shared.h"
#include "libzip/schedule/step.h"
#include "libzip/world/world.h"

/* The slots of the members that a leader of another part is in charge of. */
struct piece {
	int from;   /* that leader: a rank of the partners */
	int leader; /* of my part, which gets the piece and spreads it: a rank in the shadow; -1: no such piece */
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	/* In segments: */
	char *wire; /* the packed form; the buffer itself where both are the same */
	MPI_Count bytes;
	struct zarriving *arriving; /* in its leader of my part */
};

/* The pieces that come from the other parts. */
struct incoming {
	struct piece *pieces; /* [most leaders][nparts] */
	int npieces;
	MPI_Count segment; /* bytes of a segment; 0: pieces come as a whole */
	int n;		   /* segments of the longest piece */
};

/* For a rank that is alone in its part: with one member, MPI_Iallgatherv of MPICH 4.0.2 ignores the displacement. */
static int copy_own(struct zsched *s, void *arg)
{
	const struct zcoll *a = arg;
	struct zslots slots = zslots_recv(a);
	int rank = zsched_comm(s)->rank;
	return zbuf_copy(s, a->sendbuf, a->sendcount, a->sendtype, zslots_at(&slots, rank), zslots_count(&slots, rank),
		slots.type);
}

static int gather_own(struct zsched *s, const struct zcoll *a, const struct zslots *slots)
{
	MPI_Count *counts;
	MPI_Aint *displs;
	if (zsched_comm(s)->nlocal == 1) {
		struct zcoll *copy = zsched_alloc(s, sizeof *copy);
		if (!copy)
			return MPI_ERR_NO_MEM;
		*copy = *a;
		return a->sendbuf == MPI_IN_PLACE ? MPI_SUCCESS : zstep_call(s, copy_own, copy);
	}
	int rc = zslots_local(s, slots, &counts, &displs);
	if (rc != MPI_SUCCESS)
		return rc;
	MPI_Count most = 0;
	for (int i = 0; i < zsched_comm(s)->nlocal; i++)
		most = counts[i] > most ? counts[i] : most;
	const struct zshared_vectors all = {.buf = a->recvbuf, .counts = counts, .displs = displs, .type = a->recvtype};
	if (zshared_fits(zsched_comm(s), most, a->recvtype))
		return zshared_allgather(s, a->sendbuf, a->sendcount, a->sendtype, &all);
	return zinside_allgatherv(s, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, counts, displs, a->recvtype);
}

/* Between groups the number of leaders is chosen for each giving part, by the bytes of that part. */
static int leaders_between(const struct zcomm *from, const struct zcomm *to, MPI_Count bytes)
{
	struct ztuning_settings tune = ztune_choose(from, ZTUNING_ALLGATHER, bytes);
	int members = from->members_min < to->members_min ? from->members_min : to->members_min;
	return tune.leaders < members ? (int)tune.leaders : members;
}

static int leaders_of(const struct zsched *s, const struct zslots *slots, const struct ztuning_settings *tune, int p)
{
	const struct zcomm *from = zsched_partners(s);
	if (from->local)
		return leaders_between(from, zsched_comm(s), zslots_wire_bytes(from, slots, p));
	return tune->leaders < from->members_min ? (int)tune->leaders : from->members_min;
}

static int make_piece(struct zsched *s, const struct zslots *slots, int p, int leaders, int a, struct piece *piece)
{
	const struct zcomm *from = zsched_partners(s);
	int n = from->parts[p].count;
	piece->from = from->parts[p].member[zleader_first(n, leaders, a)];
	piece->leader = zleader_first(zsched_comm(s)->nlocal, leaders, a);
	return zslots_members(s, slots, p, zleader_first(n, leaders, a), zleader_first(n, leaders, a + 1), &piece->buf,
		&piece->count, &piece->type);
}

static bool leads(const struct zsched *s, const struct piece *piece)
{
	struct zcomm *c = zsched_comm(s);
	return piece->leader == zcomm_shadow_rank(c, c->rank);
}

/* All members of my part decide alike. */
static void choose_segments(const struct zsched *s, const struct ztuning_settings *tune, MPI_Count longest,
	struct incoming *in)
{
	in->segment = 0;
	in->n = 1;
	if (zworld.external32) /* as bytes in any case, also where leaders need not spread them */
		in->segment = longest > 0 ? longest : 1;
	if (zsched_comm(s)->nlocal == 1 || longest <= tune->segment)
		return;
	in->segment = tune->segment;
	if (in->segment * tune->segments < longest) /* the steps of a schedule are bounded */
		in->segment = (longest + tune->segments - 1) / tune->segments;
	in->n = (int)((longest + in->segment - 1) / in->segment);
}

static int make_pieces(struct zsched *s, const struct zslots *slots, const struct ztuning_settings *tune,
	struct incoming *in)
{
	const struct zcomm *from = zsched_partners(s);
	int nparts = from->nparts, most = 1, rc = MPI_SUCCESS;
	for (int p = 0; p < nparts; p++) {
		int leaders = leaders_of(s, slots, tune, p);
		most = leaders > most ? leaders : most;
	}
	in->npieces = most * nparts;
	in->pieces = zsched_alloc(s, (size_t)in->npieces * sizeof *in->pieces);
	if (!in->pieces)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < in->npieces && rc == MPI_SUCCESS; i++) {
		int p = i % nparts, leaders = leaders_of(s, slots, tune, p);
		in->pieces[i] = (struct piece){.leader = -1};
		if ((from->local || p != from->my_part) && i / nparts < leaders)
			rc = make_piece(s, slots, p, leaders, i / nparts, &in->pieces[i]);
	}
	return rc;
}

static int make_incoming(struct zsched *s, const struct zslots *slots, const struct ztuning_settings *tune,
	struct incoming *in)
{
	MPI_Count longest = 0;
	int rc = make_pieces(s, slots, tune, in);
	for (int i = 0; i < in->npieces && rc == MPI_SUCCESS; i++) {
		struct piece *piece = &in->pieces[i];
		piece->bytes = piece->leader >= 0 ? zbuf_wire_bytes(piece->count, piece->type) : 0;
		longest = piece->bytes > longest ? piece->bytes : longest;
	}
	choose_segments(s, tune, longest, in);
	for (int i = 0; i < in->npieces && rc == MPI_SUCCESS && in->segment > 0; i++) {
		struct piece *piece = &in->pieces[i];
		if (piece->leader >= 0)
			rc = zbuf_wire(s, piece->buf, piece->count, piece->type, &piece->wire, &piece->bytes);
	}
	return rc;
}

/* A leader posts the receive of a piece, and waits for it unless the piece comes in segments. */
static int receive(struct zsched *s, const struct incoming *in, struct piece *piece)
{
	if (in->segment == 0)
		return zstep_recv(s, piece->buf, piece->count, piece->type, piece->from);
	/* A native message, from the remote group, comes as a whole. */
	if (piece->bytes == 0 || zcomm_is_local_rank(zsched_partners(s), piece->from))
		return zstep_recv(s, piece->wire, piece->bytes, MPI_BYTE, piece->from);
	piece->arriving = zstep_recv_bytes(s, piece->wire, piece->bytes, piece->from);
	return piece->arriving ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* The pieces that I get for my part. */
static int receive_pieces(struct zsched *s, const struct incoming *in)
{
	int rc = MPI_SUCCESS;
	for (int i = 0; i < in->npieces && rc == MPI_SUCCESS; i++)
		if (leads(s, &in->pieces[i]))
			rc = receive(s, in, &in->pieces[i]);
	return rc;
}

static int pack_piece(struct zsched *s, void *arg)
{
	const struct piece *piece = arg;
	(void)s;
	return zbuf_pack(piece->buf, piece->count, piece->type, piece->wire);
}

/* Turns my piece, which is to be sent, into bytes of the wire. */
static int pack_mine(struct zsched *s, struct piece *mine)
{
	struct piece *from = zsched_alloc(s, sizeof *from);
	if (!from)
		return MPI_ERR_NO_MEM;
	*from = *mine;
	int rc = zbuf_wire(s, from->buf, from->count, from->type, &from->wire, &from->bytes);
	*mine = (struct piece){.buf = from->wire, .count = from->bytes, .type = MPI_BYTE};
	return rc != MPI_SUCCESS || from->wire == from->buf ? rc : zstep_call(s, pack_piece, from);
}

/* A leader exchanges pieces with the leaders of the same number. Where pieces come in segments its sends are still
 * under way afterwards: the steps from *sent up to *end. */
static int exchange(struct zsched *s, const struct zslots *slots, struct incoming *in, int leaders, int number,
	const struct ztuning_settings *tune, int *sent, int *end)
{
	struct piece mine;
	int rc = make_piece(s, slots, zsched_comm(s)->my_part, leaders, number, &mine);
	if (rc == MPI_SUCCESS && zworld.external32)
		rc = pack_mine(s, &mine);
	if (rc == MPI_SUCCESS)
		rc = receive_pieces(s, in);
	*sent = zstep_next(s);
	if (rc == MPI_SUCCESS)
		rc = zfanout_to_leaders(s, mine.buf, mine.count, mine.type, leaders, number, tune);
	*end = zstep_next(s);
	if (in->segment > 0)
		zstep_open_from(s, *sent);
	zsched_round(s);
	return rc;
}

/* Leaders spread segment k of all pieces. */
static int spread(struct zsched *s, const struct incoming *in, int k)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	for (int i = 0; i < in->npieces && rc == MPI_SUCCESS && c->nlocal > 1; i++) {
		const struct piece *piece = &in->pieces[i];
		if (piece->leader < 0)
			continue;
		if (in->segment == 0) {
			rc = zinside_bcast(s, piece->buf, piece->count, piece->type, piece->leader);
			continue;
		}
		MPI_Count at = in->segment * k, left = piece->bytes - at;
		if (left > 0)
			rc = zinside_bcast(s, piece->wire + at, left < in->segment ? left : in->segment, MPI_BYTE,
				piece->leader);
	}
	return rc;
}

static int unpack_piece(struct zsched *s, void *arg)
{
	const struct piece *piece = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zbuf_unpack(piece->wire, piece->buf, piece->count, piece->type);
}

/* Round k: segment k arrives while segment k - 1 spreads. */
static int spread_segments(struct zsched *s, struct incoming *in)
{
	int rc = MPI_SUCCESS;
	for (int k = 0; k <= in->n && rc == MPI_SUCCESS; k++) {
		MPI_Count upto = in->segment * (k + 1);
		if (k > 0)
			rc = spread(s, in, k - 1);
		for (int i = 0; i < in->npieces && k < in->n && rc == MPI_SUCCESS; i++) {
			struct piece *piece = &in->pieces[i];
			if (leads(s, piece) && piece->arriving)
				rc = zstep_await(s, piece->arriving, upto < piece->bytes ? upto : piece->bytes);
		}
		zsched_round(s);
	}
	for (int i = 0; i < in->npieces && rc == MPI_SUCCESS; i++) {
		if (in->pieces[i].leader >= 0 && in->pieces[i].wire != in->pieces[i].buf)
			rc = zstep_call(s, unpack_piece, &in->pieces[i]);
	}
	return rc;
}

/* The members of my part get the pieces from their leaders. The steps from sent up to end are the sends of my own
 * piece. */
static int build_spread(struct zsched *s, struct incoming *in, int sent, int end)
{
	int rc = in->segment > 0 ? spread_segments(s, in) : spread(s, in, 0);
	for (int i = sent; i < end && rc == MPI_SUCCESS && in->segment > 0; i++)
		rc = zstep_close(s, i);
	zsched_round(s);
	return rc;
}

/* The settings go by the bytes that every rank gets. */
static struct ztuning_settings choose(const struct zcomm *c, const struct zslots *slots)
{
	MPI_Count total = 0;
	for (int r = 0; r < c->size; r++)
		total += zslots_count(slots, r);
	return ztune_choose(c, ZTUNING_ALLGATHER, zbuf_wire_bytes(total, slots->type));
}

static int build_exchange(struct zsched *s, const struct zslots *slots, const struct ztuning_settings *tune)
{
	struct zcomm *c = zsched_comm(s);
	int sent = 0, end = 0, leaders = leaders_of(s, slots, tune, c->my_part);
	int number = zleader_number(c, leaders);
	struct incoming in;
	int rc = make_incoming(s, slots, tune, &in);
	if (rc == MPI_SUCCESS && number >= 0)
		rc = exchange(s, slots, &in, leaders, number, tune, &sent, &end);
	return rc == MPI_SUCCESS ? build_spread(s, &in, sent, end) : rc;
}

/* With plans: makes the piece of leader number a of part p. Where data are packed, only pieces that I send or get are.
 * *unpacks becomes a piece that is to be unpacked. */
static int make_planned(struct zsched *s, const struct zslots *slots, int p, int leaders, int a,
	struct zplan_piece *planned, struct piece *unpacks)
{
	struct zcomm *c = zsched_comm(s);
	struct piece piece;
	int rc = make_piece(s, slots, p, leaders, a, &piece);
	if (rc != MPI_SUCCESS)
		return rc;
	*planned = (struct zplan_piece){.root = piece.from,
		.number = a,
		.bytes = zbuf_wire_bytes(piece.count, piece.type)};
	if (p == c->my_part && piece.from != c->rank)
		return MPI_SUCCESS;
	if (p == c->my_part)
		rc = pack_mine(s, &piece);
	else
		rc = zbuf_wire(s, piece.buf, piece.count, piece.type, &piece.wire, &piece.bytes);
	planned->wire = p == c->my_part ? piece.buf : piece.wire;
	if (p != c->my_part && piece.wire != piece.buf)
		*unpacks = piece;
	return rc;
}

/* Sends the pieces of all parts, with a plan for each. */
static int build_plans(struct zsched *s, const struct zslots *slots, const struct ztuning_settings *tune)
{
	struct zcomm *c = zsched_comm(s);
	int leaders = leaders_of(s, slots, tune, c->my_part), n = leaders * c->nparts, rc = MPI_SUCCESS;
	struct zplan_piece *planned = zsched_alloc(s, (size_t)n * sizeof *planned);
	struct piece *unpacks = zsched_alloc(s, (size_t)n * sizeof *unpacks);
	if (!planned || !unpacks)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		unpacks[i] = (struct piece){.wire = NULL};
		rc = make_planned(s, slots, i % c->nparts, leaders, i / c->nparts, &planned[i], &unpacks[i]);
	}
	if (rc == MPI_SUCCESS)
		rc = zplan_build(s, planned, n, leaders, tune);
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		if (unpacks[i].wire)
			rc = zstep_call(s, unpack_piece, &unpacks[i]);
	zsched_round(s);
	return rc;
}

int zallgather_build(struct zsched *s, const struct zcoll *a)
{
	struct zslots slots = zslots_recv(a);
	struct ztuning_settings tune = choose(zsched_comm(s), &slots);
	int rc = gather_own(s, a, &slots);
	zsched_round(s);
	if (rc != MPI_SUCCESS)
		return rc;
	return zplan_is_used(s, &tune) ? build_plans(s, &slots, &tune) : build_exchange(s, &slots, &tune);
}

/*
 * Between groups. The data of a part's members are collected at its leaders, and go to the leaders of the same number
 * in every part of the other group, in one message, as the members of the giving part do not know each other's sizes.
 * The taking part decides how it spreads the data.
 */

static int leaders_across(struct zsched *s, void *arg, MPI_Count bytes)
{
	(void)arg;
	return leaders_between(zsched_comm(s), zsched_partners(s), bytes);
}

static int exchange_across(struct zsched *s, void *arg, const struct zcollected *part)
{
	const struct zcoll *a = arg;
	struct zslots slots = zslots_recv(a);
	struct ztuning_settings tune = choose(zsched_partners(s), &slots);
	struct incoming in = {.segment = 0};
	int sent = 0, end = 0, rc = make_incoming(s, &slots, &tune, &in);
	if (rc == MPI_SUCCESS)
		rc = receive_pieces(s, &in);
	if (part && rc == MPI_SUCCESS) {
		struct piece mine = {.buf = (void *)(uintptr_t)part->buf, .count = part->count, .type = part->type};
		if (zworld.external32)
			rc = pack_mine(s, &mine);
		sent = zstep_next(s);
		if (rc == MPI_SUCCESS)
			rc = zacross_send_to(s, mine.buf, mine.count, mine.type, part->leaders, part->number);
		end = zstep_next(s);
		if (in.segment > 0)
			zstep_open_from(s, sent);
	}
	zsched_round(s);
	return rc == MPI_SUCCESS ? build_spread(s, &in, sent, end) : rc;
}

int zallgather_build_across(struct zsched *s, const struct zcoll *a)
{
	struct zcoll *copy = zsched_alloc(s, sizeof *copy);
	if (!copy)
		return MPI_ERR_NO_MEM;
	*copy = *a;
	return zcollect_part(s, copy, leaders_across, exchange_across, copy);
}
