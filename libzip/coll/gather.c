/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A gather. It is native in the root's part. The members of every other part gather packed bytes at their leader, which
 * sends one message to the root; with MPI_Gatherv the leader learns the sizes first. Large blocks do not go this way:
 * their members send them to the root. Root and member know the size, which decides; for the leader these blocks are
 * empty.
 */
#include "libzip/coll/gather.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/slots.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inside/collect.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/coll/inside/shared.h"
#include "libzip/schedule/step.h"
#include "libzip/world/world.h"

/* Blocks from here on travel alone. */
static MPI_Count alone_from(const struct zcomm *c)
{
	return ztune_choose(c, ZTUNING_GATHER, 0).alone;
}

/* Data of a part that the receiver must unpack (external32). */
struct zincoming {
	struct zslots slots;
	int part;
	char *wire;
};

static int unpack_part(struct zsched *s, void *arg)
{
	struct zincoming *in = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zslots_unpack(zsched_partners(s), &in->slots, in->part, in->wire);
}

static int finish_part(struct zsched *s, struct zincoming *left)
{
	return left ? zstep_call(s, unpack_part, left) : MPI_SUCCESS;
}

/* Receives the collected data of part p of zsched_partners into its slots. *left is what finish_part has to do in a
 * later round, or NULL. */
static int receive_collected(struct zsched *s, const struct zslots *slots, int p, struct zincoming **left)
{
	struct zcomm *c = zsched_partners(s);
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
	int root = zcomm_shadow_rank(c, a->root);
	if (!a->vector && zshared_fits(c, in_place ? a->recvcount : a->sendcount, in_place ? a->recvtype : a->sendtype))
		return zshared_gather(s, a->sendbuf, a->sendcount, a->sendtype, &all, root);
	return zinside_gatherv(s, a->sendbuf, a->sendcount, a->sendtype, counts ? a->recvbuf : NULL, counts, displs,
		counts ? a->recvtype : MPI_BYTE, root);
}

/* Receives from the members of part p. A leader's own block, if it travels alone, comes before the data that the leader
 * has collected. */
static int receive_part(struct zsched *s, const struct zcoll *a, const struct zslots *slots, const struct zslots *rest,
	int p, struct zincoming **left)
{
	struct zcomm *c = zsched_partners(s);
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
	return receive_collected(s, from > 0 ? rest : slots, p, left);
}

static int build_root(struct zsched *s, const struct zcoll *a, bool across)
{
	struct zcomm *c = zsched_comm(s), *from = zsched_partners(s);
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
		rc = finish_part(s, left[p]);
	return rc;
}

struct to_root {
	int root;
	int alone; /* the step that sends my block by itself, or -1 */
};

static int send_to_root(struct zsched *s, void *arg, const struct zcollected *piece)
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
	return zcollect_part(s, &rest, NULL, send_to_root, to);
}

int zgather_build(struct zsched *s, const struct zcoll *a)
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

/* Every part of the other group is away from the root. */
int zgather_build_across(struct zsched *s, const struct zcoll *a)
{
	int rc = a->root == MPI_ROOT ? build_root(s, a, true) : a->root >= 0 ? build_remote(s, a) : MPI_SUCCESS;
	zsched_round(s);
	return rc;
}
