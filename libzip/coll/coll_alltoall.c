/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw: the local pairs by one native collective on the
 * shadow, remote pairs with small blocks together (coll_aggregate.c), with larger ones by one bridged
 * message each, a bounded number at a time. Empty pairs send nothing. Between groups there are remote
 * pairs only.
 */
#include "libzip/coll/coll_alltoall.h"
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/coll_forms.h"
#include "libzip/coll/coll_in_place.h"
#include "libzip/coll/inside/coll_native.h"
#include "libzip/coll/tune.h"

static bool is_direct(const struct zside *d, int rank, MPI_Count limit)
{
	return zside_bytes(d, rank) > limit;
}

static int post_send(struct zsched *s, const struct zalltoall *x, int r)
{
	MPI_Datatype type = zside_type(&x->send, r);
	MPI_Count count = zslots_count(&x->send.slots, r);
	void *buf = zside_at(&x->send, r), *temp;
	if (x->in_place) { /* the slots are receive buffers too */
		int rc = zbuf_temp(s, count, type, &temp);
		if (rc != MPI_SUCCESS)
			return rc;
		zbuf_copy_span(buf, temp, count, type);
		buf = temp;
	}
	return zstep_send(s, buf, count, type, r);
}

/* In one step a rank sends at most one message, to that rank, and gets one from the other; -1: none. */
struct turn {
	int to, from;
};

/* Step after step. The round of step k waits for step k - window + 1. All ranks take the steps in the same order, hence
 * the first that is not complete has been begun by both of its ranks. */
static int exchange(struct zsched *s, const struct zalltoall *x, int window, int steps,
	struct turn (*turn_of)(const struct zsched *, int step))
{
	int *open = zsched_alloc(s, 2 * (size_t)window * sizeof *open), rc = MPI_SUCCESS;
	long begun = 0, ended = 0;
	if (!open)
		return MPI_ERR_NO_MEM;
	for (int step = 0; step < steps && rc == MPI_SUCCESS; step++) {
		const struct turn t = turn_of(s, step);
		int *at = &open[2 * (begun % window)];
		at[0] = at[1] = -1;
		if (t.from >= 0 && is_direct(&x->recv, t.from, x->limit)) {
			rc = zstep_recv(s, zside_at(&x->recv, t.from), zslots_count(&x->recv.slots, t.from),
				zside_type(&x->recv, t.from), t.from);
			at[0] = rc == MPI_SUCCESS ? zstep_open(s) : -1;
		}
		if (rc == MPI_SUCCESS && t.to >= 0 && is_direct(&x->send, t.to, x->limit)) {
			rc = post_send(s, x, t.to);
			at[1] = rc == MPI_SUCCESS ? zstep_open(s) : -1;
		}
		if ((at[0] < 0 && at[1] < 0) || ++begun - ended < window)
			continue;
		rc = rc == MPI_SUCCESS ? zalltoall_close(s, &open[2 * (ended++ % window)]) : rc;
		zsched_round(s);
	}
	while (ended < begun && rc == MPI_SUCCESS)
		rc = zalltoall_close(s, &open[2 * (ended++ % window)]);
	return rc;
}

static int member_of(const struct zcomm *c, int part, int i)
{
	return i < c->parts[part].count ? c->parts[part].member[i] : -1;
}

/* No two ranks with the same target: member i sends to member i + t of the d-th part after its own. So nobody gets more
 * at a time than window messages, however many senders there are. */
static struct turn between_parts(const struct zsched *s, int step)
{
	const struct zcomm *c = zsched_comm(s);
	int me = c->shadow_rank[c->rank], wide = c->members_max, others = c->nparts - 1;
	int t = step / others, d = step % others + 1;
	return (struct turn){.to = member_of(c, (c->my_part + d) % c->nparts, (me + t) % wide),
		.from = member_of(c, (c->my_part + c->nparts - d) % c->nparts, (me + wide - t) % wide)};
}

static int local_types(struct zsched *s, const struct zside *d, MPI_Datatype **types, MPI_Aint *displs)
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

static int exchange_local(struct zsched *s, const struct zside *send, const struct zside *recv, bool in_place)
{
	MPI_Count *scounts = NULL, *rcounts;
	MPI_Aint *sdispls = NULL, *rdispls;
	MPI_Datatype *rtypes;
	const void *sendbuf = in_place ? MPI_IN_PLACE : send->slots.buf;
	int rc = zslots_local(s, &recv->slots, &rcounts, &rdispls);
	if (rc == MPI_SUCCESS && !in_place)
		rc = zslots_local(s, &send->slots, &scounts, &sdispls);
	if (rc != MPI_SUCCESS)
		return rc;
	if (!recv->types)
		return znative_alltoallv(s, sendbuf, scounts, sdispls, send->slots.type, recv->slots.buf, rcounts,
			rdispls, recv->slots.type);
	rc = local_types(s, recv, &rtypes, rdispls);
	struct zpacked x = {.counts = scounts, .displs = sdispls, .data = send->slots.buf};
	if (rc == MPI_SUCCESS)
		rc = in_place ? zpacked_local(s, recv, &x) : local_types(s, send, &x.types, sdispls);
	if (rc != MPI_SUCCESS)
		return rc;
	return znative_alltoallw(s, x.data, x.counts, x.displs, x.types, recv->slots.buf, rcounts, rdispls, rtypes);
}

/* In all forms but Alltoall ranks know their own blocks only: what all decide alike cannot depend on sizes. */
static int build(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	struct zalltoall *x = zsched_alloc(s, sizeof *x);
	int rc;
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct zalltoall){.in_place = a->sendbuf == MPI_IN_PLACE, .recv = {.types = a->recvtypes}};
	x->recv.slots = zslots_recv(a);
	x->send = x->recv;
	if (!x->in_place) {
		x->send.slots = zslots_send(a);
		x->send.types = a->sendtypes;
	}
	x->block = a->vector ? -1 : zside_bytes(&x->recv, 0);
	struct ztuning_settings tune = ztune_choose(c, ZTUNING_ALLTOALL, a->vector ? 0 : x->block);
	x->limit = tune.aggregate;
	x->leaders = tune.leaders < c->members_min ? (int)tune.leaders : c->members_min;
	bool together = x->limit > 0 && x->block <= x->limit && x->block != 0;
	rc = together ? zalltoall_pack(s, x) : MPI_SUCCESS;
	if (rc == MPI_SUCCESS)
		rc = exchange_local(s, &x->send, &x->recv, x->in_place);
	if (rc != MPI_SUCCESS)
		return rc;
	x->local = zstep_open(s);
	if (x->block < 0 || x->block > x->limit)
		rc = exchange(s, x, (int)tune.window, c->members_max * (c->nparts - 1), between_parts);
	if (rc == MPI_SUCCESS)
		rc = together ? zalltoall_aggregate(s, x) : zstep_close(s, x->local);
	return rc;
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = a->vector ? ztake_vector(s, a->recvbuf, a->recvcounts, a->recvtype)
			   : ztake_data(s, a->recvbuf, a->recvcount, a->recvtype);
	if (rc == MPI_SUCCESS && a->vector && !a->rdispls.p)
		rc = MPI_ERR_BUFFER;
	if (rc != MPI_SUCCESS || a->sendbuf == MPI_IN_PLACE)
		return rc;
	if (a->vector && !a->sdispls.p)
		return MPI_ERR_ARG;
	return a->vector ? ztake_vector(s, a->sendbuf, a->sendcounts, a->sendtype)
			 : ztake_data(s, a->sendbuf, a->sendcount, a->sendtype);
}

static int take_w(struct zsched *s, struct zcoll *a)
{
	int n = zsched_peers(s)->size, rc = ztake_types(s, a->recvbuf, a->recvcounts, a->rdispls, &a->recvtypes, n);
	a->sendtype = a->recvtype = MPI_BYTE; /* displacements are in bytes */
	if (rc == MPI_SUCCESS && a->sendbuf != MPI_IN_PLACE)
		rc = ztake_types(s, a->sendbuf, a->sendcounts, a->sdispls, &a->sendtypes, n);
	return rc;
}

static int larger_group(const struct zsched *s)
{
	const struct zcomm *c = zsched_comm(s), *peers = zsched_peers(s);
	return c->size > peers->size ? c->size : peers->size;
}

/* One block after the other: in step t member i of one group exchanges with member i + t of the other, modulo the
 * larger one's size. */
static struct turn between_groups(const struct zsched *s, int t)
{
	int me = zsched_comm(s)->rank, n = zsched_peers(s)->size, wide = larger_group(s);
	int to = (me + t) % wide, from = (me + wide - t) % wide;
	return (struct turn){.to = to < n ? to : -1, .from = from < n ? from : -1};
}

static int lesser(int64_t a, int64_t b)
{
	return (int)(a < b ? a : b);
}

/* What both groups must decide alike depends on both. The sizes of the two ways differ, also in Alltoall. */
static int build_across(struct zsched *s, const struct zcoll *a)
{
	const struct zcomm *c = zsched_comm(s), *peers = zsched_peers(s);
	const struct ztuning_settings mine = ztune_choose(c, ZTUNING_ALLTOALL, 0),
				      theirs = ztune_choose(peers, ZTUNING_ALLTOALL, 0);
	struct zalltoall *x = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct zalltoall){.send = {.slots = zslots_send(a), .types = a->sendtypes},
		.recv = {.slots = zslots_recv(a), .types = a->recvtypes},
		.block = -1,
		.local = -1};
	/* With one member in every part each pair is a message for itself anyway. */
	if (c->members_max > 1 || peers->members_max > 1)
		x->limit = lesser(mine.aggregate, theirs.aggregate);
	x->leaders = lesser(lesser(mine.leaders, theirs.leaders), lesser(c->members_min, peers->members_min));
	int rc = x->limit > 0 ? zalltoall_pack(s, x) : MPI_SUCCESS;
	if (rc == MPI_SUCCESS)
		rc = exchange(s, x, (int)mine.window, larger_group(s), between_groups);
	if (rc == MPI_SUCCESS && x->limit > 0)
		return zalltoall_aggregate(s, x);
	zsched_round(s);
	return rc;
}

static int take_across(struct zsched *s, struct zcoll *a)
{
	return ztake_both(s, a, take);
}

static int take_w_across(struct zsched *s, struct zcoll *a)
{
	return ztake_both(s, a, take_w);
}

static const struct zcoll_across across = {take_across, build_across}, across_w = {take_w_across, build_across};

#define ALLTOALL_PARAMS(COUNT, DISPL)                                                                                  \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Alltoall, Ialltoall, ALLTOALL_PARAMS, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm),
	(.take = take, .build = build, .across = &across, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype))

#define ALLTOALLV_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], MPI_Datatype sendtype, void *recvbuf,    \
		const COUNT recvcounts[], const DISPL rdispls[], MPI_Datatype recvtype, MPI_Comm comm
ZCOLL_FORMS(Alltoallv, Ialltoallv, ALLTOALLV_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm),
	(.take = take, .build = build, .across = &across, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtype = sendtype, .recvbuf = recvbuf,
		.recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls), .recvtype = recvtype))

#define ALLTOALLW_PARAMS(COUNT, DISPL)                                                                                 \
	const void *sendbuf, const COUNT sendcounts[], const DISPL sdispls[], const MPI_Datatype sendtypes[],          \
		void *recvbuf, const COUNT recvcounts[], const DISPL rdispls[], const MPI_Datatype recvtypes[],        \
		MPI_Comm comm
ZCOLL_FORMS(Alltoallw, Ialltoallw, ALLTOALLW_PARAMS,
	(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm),
	(.take = take_w, .build = build, .across = &across_w, .local = zpacked_run, .vector = true, .sendbuf = sendbuf,
		.sendcounts = ZVEC(sendcounts), .sdispls = ZVEC(sdispls), .sendtypes = sendtypes, .recvbuf = recvbuf,
		.recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(rdispls), .recvtypes = recvtypes))
