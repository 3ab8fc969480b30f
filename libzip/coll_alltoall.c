/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: the local pairs by one native collective on the
 * shadow, each remote pair by one bridged message, all posted at once. Every rank begins with
 * another target. Empty pairs send nothing.
 */
#include "coll_data.h"
#include "coll_forms.h"
#include "coll_native.h"
#include "coll_slots.h"

/* One side of the exchange; w: datatypes and displacements in bytes per rank. */
struct side {
	struct zslots slots;
	const MPI_Datatype *types; /* w, else NULL */
};

static MPI_Datatype type_of(const struct side *d, int rank)
{
	return d->types ? d->types[rank] : d->slots.type;
}

static void *at(const struct side *d, int rank)
{
	return d->types ? d->slots.buf + zvec_get(d->slots.displs, rank)
			: zslots_at(&d->slots, rank);
}

static bool empty(const struct side *d, int rank)
{
	return zslots_count(&d->slots, rank) == 0 || zbuf_size(type_of(d, rank)) == 0;
}

static int post_receives(struct zsched *s, const struct side *d)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	for (int k = 1; k < c->size && rc == MPI_SUCCESS; k++) {
		int r = (c->rank - k + c->size) % c->size;
		if (!zcomm_is_local_rank(c, r) && !empty(d, r))
			rc = zsched_recv(s, at(d, r), zslots_count(&d->slots, r), type_of(d, r), r);
	}
	return rc;
}

/* copy: the slots are receive buffers too (MPI_IN_PLACE). */
static int post_sends(struct zsched *s, const struct side *d, bool copy)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	for (int k = 1; k < c->size && rc == MPI_SUCCESS; k++) {
		int r = (c->rank + k) % c->size;
		if (zcomm_is_local_rank(c, r) || empty(d, r))
			continue;
		void *buf = at(d, r);
		MPI_Count count = zslots_count(&d->slots, r);
		if (copy) {
			void *temp;
			rc = zbuf_temp(s, count, type_of(d, r), &temp);
			if (rc != MPI_SUCCESS)
				break;
			zbuf_copy_span(buf, temp, count, type_of(d, r));
			buf = temp;
		}
		rc = zsched_send(s, buf, count, type_of(d, r), r);
	}
	return rc;
}

static int local_types(
	struct zsched *s, const struct side *d, MPI_Datatype **types, MPI_Aint *displs)
{
	struct zcomm *c = zsched_comm(s);
	*types = zsched_alloc(s, (size_t)c->nlocal * sizeof **types);
	if (!*types)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < c->nlocal; i++) {
		(*types)[i] = d->types[c->shadow_to_rank[i]];
		displs[i] = zvec_get(d->slots.displs, c->shadow_to_rank[i]);
	}
	return MPI_SUCCESS;
}

static int exchange_local(
	struct zsched *s, const struct side *send, const struct side *recv, bool in_place)
{
	MPI_Count *scounts = NULL, *rcounts;
	MPI_Aint *sdispls = NULL, *rdispls;
	MPI_Datatype *stypes = NULL, *rtypes;
	const void *sendbuf = in_place ? MPI_IN_PLACE : send->slots.buf;
	int rc = zslots_local(s, &recv->slots, &rcounts, &rdispls);
	if (rc == MPI_SUCCESS && !in_place)
		rc = zslots_local(s, &send->slots, &scounts, &sdispls);
	if (rc != MPI_SUCCESS)
		return rc;
	if (!recv->types)
		return znative_alltoallv(s, sendbuf, scounts, sdispls, send->slots.type,
			recv->slots.buf, rcounts, rdispls, recv->slots.type);
	rc = local_types(s, recv, &rtypes, rdispls);
	if (rc == MPI_SUCCESS && !in_place)
		rc = local_types(s, send, &stypes, sdispls);
	if (rc != MPI_SUCCESS)
		return rc;
	return znative_alltoallw(
		s, sendbuf, scounts, sdispls, stypes, recv->slots.buf, rcounts, rdispls, rtypes);
}

static int build(struct zsched *s, const struct zcoll *a)
{
	bool in_place = a->sendbuf == MPI_IN_PLACE;
	struct side recv = {.types = a->recvtypes}, send;
	recv.slots = zslots_recv(a);
	send = recv;
	if (!in_place) {
		send.slots = zslots_send(a);
		send.types = a->sendtypes;
	}
	int rc = post_receives(s, &recv);
	if (rc == MPI_SUCCESS)
		rc = post_sends(s, &send, in_place);
	if (rc == MPI_SUCCESS)
		rc = exchange_local(s, &send, &recv, in_place);
	zsched_round(s);
	return rc;
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = a->vector ? ztake_vector(s, a->recvcounts, &a->recvtype)
			   : ztake_data(s, a->recvbuf, a->recvcount, &a->recvtype);
	if (rc == MPI_SUCCESS && (a->recvbuf == MPI_IN_PLACE || (a->vector && !a->rdispls.p)))
		rc = MPI_ERR_BUFFER;
	if (rc != MPI_SUCCESS || a->sendbuf == MPI_IN_PLACE)
		return rc;
	if (a->vector && !a->sdispls.p)
		return MPI_ERR_ARG;
	return a->vector ? ztake_vector(s, a->sendcounts, &a->sendtype)
			 : ztake_data(s, a->sendbuf, a->sendcount, &a->sendtype);
}

static int take_types(
	struct zsched *s, struct zvec counts, struct zvec displs, const MPI_Datatype **types)
{
	int n = zsched_comm(s)->size;
	if (!counts.p || !displs.p || !*types)
		return MPI_ERR_ARG;
	MPI_Datatype *kept = zsched_alloc(s, (size_t)n * sizeof *kept);
	int rc = kept ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		kept[i] = (*types)[i];
		if (zvec_get(counts, i) < 0)
			return MPI_ERR_COUNT;
		rc = kept[i] == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : zsched_keep_type(s, &kept[i]);
	}
	*types = kept;
	return rc;
}

static int take_w(struct zsched *s, struct zcoll *a)
{
	int rc = take_types(s, a->recvcounts, a->rdispls, &a->recvtypes);
	a->sendtype = a->recvtype = MPI_BYTE; /* displacements are in bytes */
	if (rc == MPI_SUCCESS && a->recvbuf == MPI_IN_PLACE)
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS && a->sendbuf != MPI_IN_PLACE)
		rc = take_types(s, a->sendcounts, a->sdispls, &a->sendtypes);
	return rc;
}

#define ALLTOALL_PARAMS(COUNT, DISPL)                                                              \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf,                \
		COUNT recvcount, MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Alltoall, Ialltoall, ALLTOALL_PARAMS,
	(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
	(.take = take, .build = build, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount,
		.recvtype = recvtype))

#define ALLTOALLV_PARAMS(COUNT, DISPL)                                                             \
	const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[],                      \
		MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],                    \
		const DISPL rdispls[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Alltoallv, Ialltoallv, ALLTOALLV_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
	(.take = take, .build = build, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtype = sendtype,
		.recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls),
		.recvtype = recvtype))

#define ALLTOALLW_PARAMS(COUNT, DISPL)                                                             \
	const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[],                      \
		const MPI_Datatype sendtypes[], void *recvbuf, const COUNT recvcounts[],           \
		const DISPL rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm
ZCOLL_FORMS(Alltoallw, Ialltoallw, ALLTOALLW_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
	(.take = take_w, .build = build, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtypes = sendtypes,
		.recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls),
		.recvtypes = recvtypes))
