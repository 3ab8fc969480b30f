/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Gather and MPI_Gatherv: native in the root's part; every other part's members gather packed
 * bytes at their leader, which sends one message to the root. With Gatherv the leader learns the
 * sizes first. Large blocks do not take that way: their members send them to the root. Root and member know the size,
 * which decides; to the leader they are empty.
 */
#include "libzip/coll/coll_gather.h"

#include "libzip/coll/inside/coll_board.h"
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/coll_forms.h"
#include "libzip/coll/inside/coll_native.h"
#include "libzip/coll/tune.h"

/* Blocks from here on travel alone. */
static MPI_Count alone_from(const struct zcomm *c)
{
	return ztune_choose(c, ZTUNING_GATHER, 0).alone;
}

/* What the receiver keeps of a part when the data must be unpacked (external32). */
struct zincoming {
	struct zslots slots;
	int part;
	char *wire;
};

static int unpack_part(struct zsched *s, void *arg)
{
	struct zincoming *in = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zslots_unpack(zsched_peers(s), &in->slots, in->part, in->wire);
}

int zgather_finish(struct zsched *s, struct zincoming *left)
{
	return left ? zstep_call(s, unpack_part, left) : MPI_SUCCESS;
}

int zgather_recv(struct zsched *s, const struct zslots *slots, int p, struct zincoming **left)
{
	struct zcomm *c = zsched_peers(s);
	int leader = c->parts[p].leader;
	*left = NULL;
	if (c->parts[p].count == 1)
		return zstep_recv(s, zslots_at(slots, leader), zslots_count(slots, leader), slots->type, leader);
	if (!zworld.external32) {
		void *buf;
		MPI_Count count;
		MPI_Datatype type;
		int rc = zslots_part(s, slots, p, &buf, &count, &type);
		return rc == MPI_SUCCESS ? zstep_recv(s, buf, count, type, leader) : rc;
	}
	struct zincoming *in = zsched_alloc(s, sizeof *in);
	MPI_Count bytes = zslots_wire_bytes(c, slots, p);
	if (!in)
		return MPI_ERR_NO_MEM;
	*in = (struct zincoming){.slots = *slots, .part = p, .wire = zsched_alloc(s, (size_t)bytes)};
	if (!in->wire)
		return MPI_ERR_NO_MEM;
	*left = in;
	return zstep_recv(s, in->wire, bytes, MPI_BYTE, leader);
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

/* From the members of part p: from a leader its own block, if alone, before what it has collected. */
static int receive_part(struct zsched *s, const struct zcoll *a, const struct zslots *slots, const struct zslots *rest,
	int p, struct zincoming **left)
{
	struct zcomm *c = zsched_peers(s);
	const struct zcomm_part *part = &c->parts[p];
	MPI_Count from = part->count > 1 ? alone_from(c) : 0;
	int rc = MPI_SUCCESS;
	for (int i = 0; i < part->count && rc == MPI_SUCCESS; i++) {
		int r = part->member[i];
		if (zslots_is_alone(slots, r, from))
			rc = zstep_recv(s, zslots_at(slots, r), zslots_count(slots, r), slots->type, r);
	}
	if (rc != MPI_SUCCESS || (!a->vector && zslots_is_alone(slots, part->leader, from)))
		return rc;
	return zgather_recv(s, from > 0 ? rest : slots, p, left);
}

static int build_root(struct zsched *s, const struct zcoll *a, bool across)
{
	struct zcomm *c = zsched_comm(s), *from = zsched_peers(s);
	struct zslots slots = zslots_recv(a), rest;
	struct zincoming **left = zsched_alloc(s, (size_t)from->nparts * sizeof(struct zincoming *));
	MPI_Count *counts;
	MPI_Aint *displs;
	int rc = left ? zslots_rest(s, &slots, alone_from(from), &rest) : MPI_ERR_NO_MEM;
	for (int p = 0; p < from->nparts && rc == MPI_SUCCESS; p++) {
		left[p] = NULL;
		if (across || p != c->my_part)
			rc = receive_part(s, a, &slots, &rest, p, &left[p]);
	}
	if (rc == MPI_SUCCESS && !across)
		rc = zslots_local(s, &slots, &counts, &displs);
	if (rc == MPI_SUCCESS && !across)
		rc = gather_here(s, a, counts, displs);
	zsched_round(s);
	for (int p = 0; p < from->nparts && rc == MPI_SUCCESS; p++)
		rc = zgather_finish(s, left[p]);
	return rc;
}

struct to_root {
	int root;
	int alone; /* the step that sends my block by itself, or -1 */
};

static int send_to_root(struct zsched *s, void *arg, const struct zpiece *piece)
{
	const struct to_root *to = arg;
	int rc = piece ? zstep_send(s, piece->buf, piece->count, piece->type, to->root) : MPI_SUCCESS;
	return rc == MPI_SUCCESS && to->alone >= 0 ? zstep_close(s, to->alone) : rc;
}

static int build_remote(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	const struct zslots mine = {.type = a->sendtype, .count = a->sendcount};
	struct zcoll rest = *a;
	struct to_root *to = zsched_alloc(s, sizeof *to);
	if (!to)
		return MPI_ERR_NO_MEM;
	*to = (struct to_root){.root = a->root, .alone = -1};
	if (c->nlocal > 1 && zslots_is_alone(&mine, 0, alone_from(c))) {
		int rc = zstep_send(s, a->sendbuf, a->sendcount, a->sendtype, a->root);
		if (rc != MPI_SUCCESS || !a->vector) /* then all blocks are as large */
			return rc;
		to->alone = zstep_open(s);
		rest.sendbuf = NULL;
		rest.sendcount = 0;
		rest.sendtype = MPI_BYTE;
	}
	return zgather_part(s, &rest, NULL, send_to_root, to);
}

int zbuild_gather(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	int rc;
	if (c->rank == a->root)
		rc = build_root(s, a, false);
	else if (zcomm_is_local_rank(c, a->root))
		rc = gather_here(s, a, NULL, NULL);
	else
		rc = build_remote(s, a);
	zsched_round(s);
	return rc;
}

static int take_root(struct zsched *s, struct zcoll *a)
{
	int rc = a->vector ? ztake_vector(s, a->recvbuf, a->recvcounts, a->recvtype)
			   : ztake_data(s, a->recvbuf, a->recvcount, a->recvtype);
	if (rc == MPI_SUCCESS && a->vector && !a->rdispls.p)
		rc = MPI_ERR_BUFFER;
	return rc;
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = zcheck_root(s, a->root);
	bool root = rc == MPI_SUCCESS && zsched_comm(s)->rank == a->root;
	if (root)
		rc = take_root(s, a);
	if (rc == MPI_SUCCESS && !(root && a->sendbuf == MPI_IN_PLACE))
		rc = ztake_sent(s, a);
	return rc;
}

/* Intercommunicators: every part of the other group is away from the root. */

static int build_across(struct zsched *s, const struct zcoll *a)
{
	int rc = a->root == MPI_ROOT ? build_root(s, a, true) : a->root >= 0 ? build_remote(s, a) : MPI_SUCCESS;
	zsched_round(s);
	return rc;
}

static int take_across(struct zsched *s, struct zcoll *a)
{
	return ztake_rooted(s, a, take_root, ztake_sent);
}

static const struct zcoll_across across = {take_across, build_across};

#define GATHER_PARAMS(COUNT, DISPL)                                                                                    \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, COUNT recvcount,                   \
		MPI_Datatype recvtype, int root, MPI_Comm comm
ZCOLL_FORMS(Gather, Igather, GATHER_PARAMS, (sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm),
	(.take = take, .build = zbuild_gather, .across = &across, .sendbuf = sendbuf, .sendcount = sendcount,
		.sendtype = sendtype, .recvbuf = recvbuf, .recvcount = recvcount, .recvtype = recvtype, .root = root))

#define GATHERV_PARAMS(COUNT, DISPL)                                                                                   \
	const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype, void *recvbuf, const COUNT recvcounts[],          \
		const DISPL displs[], MPI_Datatype recvtype, int root, MPI_Comm comm
ZCOLL_FORMS(Gatherv, Igatherv, GATHERV_PARAMS,
	(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm),
	(.take = take, .build = zbuild_gather, .across = &across, .vector = true, .sendbuf = sendbuf,
		.sendcount = sendcount, .sendtype = sendtype, .recvbuf = recvbuf, .recvcounts = ZVEC(recvcounts),
		.rdispls = ZVEC(displs), .recvtype = recvtype, .root = root))
