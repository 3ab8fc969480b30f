/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Allgather and MPI_Allgatherv: native allgather inside each part, straight into the receive
 * buffer; the leaders exchange their parts' slots, each those of the members that it is in charge of;
 * what has come is then spread inside.
 */
#include "coll_across.h"
#include "coll_board.h"
#include "coll_data.h"
#include "coll_forms.h"
#include "coll_gather.h"
#include "coll_leaders.h"
#include "coll_native.h"
#include "coll_slots.h"
#include "tune.h"

struct piece {
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
};

/* Alone in the part: MPICH 4.0.2 ignores the displacement in MPI_Iallgatherv with one member. */
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
		return a->sendbuf == MPI_IN_PLACE ? MPI_SUCCESS : zsched_call(s, copy_own, copy);
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
	return znative_allgatherv(s, a->sendbuf, a->sendcount, a->sendtype, a->recvbuf, counts, displs, a->recvtype);
}

static int make_piece(struct zsched *s, const struct zslots *slots, int p, int leaders, int a, struct piece *piece)
{
	int n = zsched_comm(s)->parts[p].count;
	return zslots_members(s, slots, p, zcoll_first(n, leaders, a), zcoll_first(n, leaders, a + 1), &piece->buf,
		&piece->count, &piece->type);
}

/* Leader number a, with those of the same number. pieces: what comes from each part for it. */
static int exchange(struct zsched *s, const struct zslots *slots, const struct piece *pieces, int leaders, int a,
	const struct ztuning_settings *tune)
{
	struct zcomm *c = zsched_comm(s);
	struct piece mine;
	int rc = make_piece(s, slots, c->my_part, leaders, a, &mine);
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		if (p != c->my_part)
			rc = zsched_recv(s, pieces[p].buf, pieces[p].count, pieces[p].type,
				c->parts[p].member[zcoll_first(c->parts[p].count, leaders, a)]);
	}
	if (rc == MPI_SUCCESS)
		rc = zbuild_to_leaders(s, mine.buf, mine.count, mine.type, leaders, a, tune);
	zsched_round(s);
	return rc;
}

static MPI_Count wire_bytes(const struct zcomm *c, const struct zslots *slots)
{
	MPI_Count total = 0;
	for (int r = 0; r < c->size; r++)
		total += zslots_count(slots, r);
	return zbuf_wire_bytes(total, slots->type);
}

int zbuild_allgather(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	struct zslots slots = zslots_recv(a);
	struct ztuning_settings tune = ztune_choose(c, ZTUNING_ALLGATHER, wire_bytes(c, &slots));
	int leaders = tune.leaders < c->members_min ? (int)tune.leaders : c->members_min;
	int mine = zcoll_my_number(c, leaders);
	struct piece *pieces = zsched_alloc(s, (size_t)(c->nparts * leaders) * sizeof *pieces); /* [leaders][nparts] */
	int rc = pieces ? gather_own(s, a, &slots) : MPI_ERR_NO_MEM;
	zsched_round(s);
	for (int i = 0; i < c->nparts * leaders && rc == MPI_SUCCESS; i++) {
		if (i % c->nparts != c->my_part)
			rc = make_piece(s, &slots, i % c->nparts, leaders, i / c->nparts, &pieces[i]);
	}
	if (rc == MPI_SUCCESS && mine >= 0)
		rc = exchange(s, &slots, &pieces[c->nparts * mine], leaders, mine, &tune);
	for (int i = 0; i < c->nparts * leaders && rc == MPI_SUCCESS && c->nlocal > 1; i++) {
		if (i % c->nparts != c->my_part)
			rc = znative_bcast(s, pieces[i].buf, pieces[i].count, pieces[i].type,
				zcoll_first(c->nlocal, leaders, i / c->nparts));
	}
	zsched_round(s);
	return rc;
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = a->vector ? ztake_vector(s, a->recvcounts, &a->recvtype)
			   : ztake_data(s, a->recvbuf, a->recvcount, &a->recvtype);
	if (rc == MPI_SUCCESS && (a->recvbuf == MPI_IN_PLACE || (a->vector && !a->rdispls.p)))
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS && a->sendbuf != MPI_IN_PLACE)
		rc = ztake_data(s, a->sendbuf, a->sendcount, &a->sendtype);
	return rc;
}

/*
 * Between groups: what the members of a part have is collected at their leader, and goes to the leader of every part of
 * the other group.
 */

static int exchange_across(struct zsched *s, void *arg, const struct zpiece *mine)
{
	const struct zcoll *a = arg;
	struct zcomm *from = zsched_peers(s);
	struct zslots slots = zslots_recv(a);
	struct zincoming **left = zsched_alloc(s, (size_t)from->nparts * sizeof(struct zincoming *));
	int rc = left ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int p = 0; p < from->nparts && rc == MPI_SUCCESS && mine; p++)
		rc = zgather_recv(s, &slots, p, &left[p]);
	if (rc == MPI_SUCCESS && mine)
		rc = zacross_send(s, mine->buf, mine->count, mine->type);
	zsched_round(s);
	for (int p = 0; p < from->nparts && rc == MPI_SUCCESS && mine; p++)
		rc = zgather_finish(s, left[p]);
	zsched_round(s);
	for (int p = 0; p < from->nparts && rc == MPI_SUCCESS && zsched_comm(s)->nlocal > 1; p++) {
		struct piece piece;
		rc = zslots_part(s, &slots, p, &piece.buf, &piece.count, &piece.type);
		if (rc == MPI_SUCCESS)
			rc = znative_bcast(s, piece.buf, piece.count, piece.type, 0);
	}
	zsched_round(s);
	return rc;
}

static int build_across(struct zsched *s, const struct zcoll *a)
{
	struct zcoll *copy = zsched_alloc(s, sizeof *copy);
	if (!copy)
		return MPI_ERR_NO_MEM;
	*copy = *a;
	return zgather_part(s, copy, exchange_across, copy);
}

static int take_across(struct zsched *s, struct zcoll *a)
{
	return a->sendbuf == MPI_IN_PLACE ? MPI_ERR_BUFFER : take(s, a);
}

static const struct zcoll_across across = {take_across, build_across};

#define ALLGATHER_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Allgather, Iallgather, ALLGATHER_PARAMS, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
	(.take = take, .build = zbuild_allgather, .across = &across, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype))

#define ALLGATHERV_PARAMS(COUNT, DISPL)                                                                                \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],          \
		const DISPL displs[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Allgatherv, Iallgatherv, ALLGATHERV_PARAMS,
	(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm),
	(.take = take, .build = zbuild_allgather, .across = &across, .vector = true, .sendbuf = sendbuf,
		.sendcount = sendcount, .sendtype = sendtype, .recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts),
		.rdispls = ZVEC(displs), .recvtype = recvtype))
