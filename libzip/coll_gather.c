/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Gather and MPI_Gatherv: native in the root's part; every other part's members gather packed
 * bytes at their leader, which sends one message to the root. With Gatherv the leader learns the
 * sizes first.
 */
#include "coll_board.h"
#include "coll_data.h"
#include "coll_forms.h"
#include "coll_native.h"
#include "coll_slots.h"

/* What the root keeps per remote part when the data must be unpacked (external32). */
struct incoming {
	struct zslots slots;
	int part;
	char *wire;
};

/* What a leader away from the root keeps for Gatherv. */
struct collect {
	int root;
	char *wire; /* my own contribution */
	int64_t bytes;
	int64_t *all_bytes; /* [nlocal] */
};

static int unpack_part(struct zsched *s, void *arg)
{
	struct incoming *in = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zslots_unpack(zsched_comm(s), &in->slots, in->part, in->wire);
}

static int recv_part(struct zsched *s, const struct zslots *slots, int p, struct incoming **unpack)
{
	struct zcomm *c = zsched_comm(s);
	int leader = c->parts[p].leader;
	*unpack = NULL;
	if (c->parts[p].count == 1)
		return zsched_recv(s, zslots_at(slots, leader), zslots_count(slots, leader), slots->type, leader);
	if (!zworld.external32) {
		void *buf;
		MPI_Count count;
		MPI_Datatype type;
		int rc = zslots_part(s, slots, p, &buf, &count, &type);
		return rc == MPI_SUCCESS ? zsched_recv(s, buf, count, type, leader) : rc;
	}
	struct incoming *in = zsched_alloc(s, sizeof *in);
	MPI_Count bytes = zslots_wire_bytes(c, slots, p);
	if (!in)
		return MPI_ERR_NO_MEM;
	*in = (struct incoming){.slots = *slots, .part = p, .wire = zsched_alloc(s, (size_t)bytes)};
	if (!in->wire)
		return MPI_ERR_NO_MEM;
	*unpack = in;
	return zsched_recv(s, in->wire, bytes, MPI_BYTE, leader);
}

/* In the root's part. */
static int gather_here(struct zsched *s, const struct zcoll *a, const MPI_Count *counts, const MPI_Aint *displs)
{
	struct zcomm *c = zsched_comm(s);
	const struct zshared_vectors all = {.buf = a->recvbuf,
		.count = a->recvcount,
		.displs = displs,
		.type = a->recvtype};
	bool in_place = a->sendbuf == MPI_IN_PLACE;
	int root = c->shadow_rank[a->root];
	if (!a->vector && zshared_fits(c, in_place ? a->recvcount : a->sendcount, in_place ? a->recvtype : a->sendtype))
		return zshared_gather(s, a->sendbuf, a->sendcount, a->sendtype, &all, root);
	return znative_gatherv(s, a->sendbuf, a->sendcount, a->sendtype, counts ? a->recvbuf : NULL, counts, displs,
		counts ? a->recvtype : MPI_BYTE, root);
}

static int build_root(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	struct zslots slots = zslots_recv(a);
	struct incoming **unpack = zsched_alloc(s, (size_t)c->nparts * sizeof(struct incoming *));
	MPI_Count *counts;
	MPI_Aint *displs;
	int rc = unpack ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		unpack[p] = NULL;
		if (p != c->my_part)
			rc = recv_part(s, &slots, p, &unpack[p]);
	}
	if (rc == MPI_SUCCESS)
		rc = zslots_local(s, &slots, &counts, &displs);
	if (rc == MPI_SUCCESS)
		rc = gather_here(s, a, counts, displs);
	zsched_round(s);
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		if (unpack[p])
			rc = zsched_call(s, unpack_part, unpack[p]);
	}
	return rc;
}

/* Gatherv, leader: the sizes are known, collect the bytes and send them on. */
static int collect_bytes(struct zsched *s, void *arg)
{
	struct zcomm *c = zsched_comm(s);
	struct collect *g = arg;
	MPI_Count *counts = zsched_alloc(s, (size_t)c->nlocal * sizeof *counts), total = 0;
	MPI_Aint *displs = zsched_alloc(s, (size_t)c->nlocal * sizeof *displs);
	if (!counts || !displs)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < c->nlocal; i++) {
		counts[i] = g->all_bytes[i];
		displs[i] = (MPI_Aint)total;
		total += counts[i];
	}
	char *all = zsched_alloc(s, (size_t)total);
	if (!all)
		return MPI_ERR_NO_MEM;
	int rc = znative_gatherv(s, g->wire, g->bytes, MPI_BYTE, all, counts, displs, MPI_BYTE, 0);
	zsched_round(s);
	return rc == MPI_SUCCESS ? zsched_send(s, all, total, MPI_BYTE, g->root) : rc;
}

static int build_remote_vector(struct zsched *s, const struct zcoll *a, char *wire, MPI_Count bytes)
{
	struct zcomm *c = zsched_comm(s);
	struct collect *g = zsched_alloc(s, sizeof *g);
	if (!g)
		return MPI_ERR_NO_MEM;
	*g = (struct collect){.root = a->root,
		.wire = wire,
		.bytes = bytes,
		.all_bytes = zsched_alloc(s, (size_t)c->nlocal * sizeof(int64_t))};
	if (!g->all_bytes)
		return MPI_ERR_NO_MEM;
	int rc = znative_gather(s, &g->bytes, 1, MPI_INT64_T, g->all_bytes, 1, MPI_INT64_T, 0);
	zsched_round(s);
	if (rc != MPI_SUCCESS)
		return rc;
	return zcoll_is_leader(c) ? zsched_call(s, collect_bytes, g)
				  : znative_gatherv(s, wire, bytes, MPI_BYTE, NULL, NULL, NULL, MPI_BYTE, 0);
}

static int build_remote(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	char *wire, *all = NULL;
	MPI_Count bytes;
	if (c->nlocal == 1)
		return zsched_send(s, a->sendbuf, a->sendcount, a->sendtype, a->root);
	int rc = zbuf_wire(s, a->sendbuf, a->sendcount, a->sendtype, &wire, &bytes);
	if (rc == MPI_SUCCESS && wire != a->sendbuf)
		rc = zbuf_pack(a->sendbuf, a->sendcount, a->sendtype, wire);
	if (rc != MPI_SUCCESS)
		return rc;
	if (a->vector)
		return build_remote_vector(s, a, wire, bytes);
	if (zcoll_is_leader(c)) {
		all = zsched_alloc(s, (size_t)(bytes * c->nlocal));
		if (!all)
			return MPI_ERR_NO_MEM;
	}
	rc = znative_gather(s, wire, bytes, MPI_BYTE, all, bytes, MPI_BYTE, 0);
	zsched_round(s);
	if (rc == MPI_SUCCESS && all)
		rc = zsched_send(s, all, bytes * c->nlocal, MPI_BYTE, a->root);
	return rc;
}

int zbuild_gather(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	int rc;
	if (c->rank == a->root)
		rc = build_root(s, a);
	else if (zcomm_is_local_rank(c, a->root))
		rc = gather_here(s, a, NULL, NULL);
	else
		rc = build_remote(s, a);
	zsched_round(s);
	return rc;
}

static int take(struct zsched *s, struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	int rc = zcheck_root(c, a->root);
	bool root = rc == MPI_SUCCESS && c->rank == a->root;
	if (root)
		rc = a->vector ? ztake_vector(s, a->recvcounts, &a->recvtype)
			       : ztake_data(s, a->recvbuf, a->recvcount, &a->recvtype);
	if (rc == MPI_SUCCESS && root && (a->recvbuf == MPI_IN_PLACE || (a->vector && !a->rdispls.p)))
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS && !(root && a->sendbuf == MPI_IN_PLACE))
		rc = ztake_data(s, a->sendbuf, a->sendcount, &a->sendtype);
	return rc;
}

#define GATHER_PARAMS(COUNT, DISPL)                                                                                    \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, int root, MPI_Comm comm
ZCOLL_FORMS(Gather, Igather, GATHER_PARAMS, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
	(.take = take, .build = zbuild_gather, .sendbuf = sendbuf, .sendcount = sendcount, .sendtype = sendtype,
		.recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype, .root = root))

#define GATHERV_PARAMS(COUNT, DISPL)                                                                                   \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],          \
		const DISPL displs[], MPI_Datatype recvtype, int root, MPI_Comm comm
ZCOLL_FORMS(Gatherv, Igatherv, GATHERV_PARAMS,
	(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
	(.take = take, .build = zbuild_gather, .vector = true, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts), .rdispls = ZVEC(displs),
		.recvtype = recvtype, .root = root))
