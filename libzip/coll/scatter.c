/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scatter. It is native in the root's part. The root sends one message to every other part's leader, which scatters
 * packed bytes. With MPI_Scatterv only the root knows the sizes, so these come first: in the same message as the data
 * if the data are few, else the data follow. Large blocks do not go this way: the root sends each to its member. Root
 * and member know the size, which decides; for the leader these blocks are empty.
 */
#include "libzip/coll/scatter.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/counts.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/slots.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/schedule/step.h"
#include "libzip/world/world.h"

/* Scatterv: data up to here travel in the message with the sizes. */
static MPI_Count together(const struct zcomm *c)
{
	return ztune_choose(c, ZTUNING_SCATTER, 0).together;
}

/* Blocks from here on travel alone. */
static MPI_Count alone_from(const struct zcomm *c)
{
	return ztune_choose(c, ZTUNING_SCATTER, 0).alone;
}

/* The share of a member away from the root. */
struct share {
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	char *wire; /* my share, packed */
	MPI_Count bytes;
	int root;
	int alone;   /* the step that receives the share alone, if it does and this is empty; or -1 */
	char *first; /* Scatterv, leader: sizes, and data if few */
	MPI_Count first_bytes;
};

static void put_le64(char *at, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		at[i] = (char)(v >> (8 * i));
}

static uint64_t get_le64(const char *at)
{
	uint64_t v = 0;
	for (int i = 7; i >= 0; i--)
		v = v << 8 | (unsigned char)at[i];
	return v;
}

/* The data that the root packs for one part. It packs them when the schedule comes to that step, as the data may be the
 * result of steps before. */
struct parcel {
	struct zslots slots;
	int part;
	char *at;
};

static int pack(struct zsched *s, void *arg)
{
	struct parcel *c = arg;
	return zslots_pack(zsched_partners(s), &c->slots, c->part, c->at);
}

static int add_pack(struct zsched *s, const struct zslots *slots, int p, char *at)
{
	struct parcel *c = zsched_alloc(s, sizeof *c);
	if (!c)
		return MPI_ERR_NO_MEM;
	*c = (struct parcel){.slots = *slots, .part = p, .at = at};
	return zstep_call(s, pack, c);
}

/* Sends the data of part p as one message of packed bytes, without a copy of ours where the bridge can pack. */
static int send_packed(struct zsched *s, const struct zslots *slots, int p)
{
	struct zcomm *c = zsched_partners(s);
	int rc;
	if (!zworld.external32) {
		void *buf;
		MPI_Count count;
		MPI_Datatype type;
		rc = zslots_part(s, slots, p, &buf, &count, &type);
		return rc == MPI_SUCCESS ? zstep_send(s, buf, count, type, c->parts[p].leader) : rc;
	}
	MPI_Count bytes = zslots_wire_bytes(c, slots, p);
	char *wire = zsched_alloc(s, (size_t)bytes);
	rc = wire ? add_pack(s, slots, p, wire) : MPI_ERR_NO_MEM;
	return rc == MPI_SUCCESS ? zstep_send(s, wire, bytes, MPI_BYTE, c->parts[p].leader) : rc;
}

static int send_with_sizes(struct zsched *s, const struct zslots *slots, int p)
{
	struct zcomm *c = zsched_partners(s);
	MPI_Count bytes = zslots_wire_bytes(c, slots, p), head = 8 * (MPI_Count)c->parts[p].count, length = head;
	bool follow = bytes > together(c);
	if (!follow)
		length += bytes;
	char *first = zsched_alloc(s, (size_t)length), *at = first;
	if (!first)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < c->parts[p].count; i++, at += 8)
		put_le64(at, (uint64_t)zbuf_wire_bytes(zslots_count(slots, c->parts[p].member[i]), slots->type));
	int rc = length > head ? add_pack(s, slots, p, at) : MPI_SUCCESS;
	if (rc == MPI_SUCCESS)
		rc = zstep_send(s, first, length, MPI_BYTE, c->parts[p].leader);
	if (rc == MPI_SUCCESS && follow)
		rc = send_packed(s, slots, p);
	return rc;
}

/* Sends the large slots of part p, each to its member. */
static int send_alone(struct zsched *s, const struct zslots *slots, int p, MPI_Count from)
{
	const struct zcomm_part *part = &zsched_partners(s)->parts[p];
	int rc = MPI_SUCCESS;
	for (int i = 0; i < part->count && rc == MPI_SUCCESS; i++) {
		int r = part->member[i];
		if (zslots_is_alone(slots, r, from))
			rc = zstep_send(s, zslots_at(slots, r), zslots_count(slots, r), slots->type, r);
	}
	return rc;
}

/* Sends to the members of part p. A leader's own block, if it travels alone, goes before the data that the leader hands
 * out. */
static int send_part(struct zsched *s, const struct zcoll *a, const struct zslots *slots, const struct zslots *rest,
	int p)
{
	struct zcomm *to = zsched_partners(s);
	int leader = to->parts[p].leader;
	MPI_Count from = alone_from(to);
	if (to->parts[p].count == 1)
		return zstep_send(s, zslots_at(slots, leader), zslots_count(slots, leader), slots->type, leader);
	int rc = send_alone(s, slots, p, from);
	if (rc != MPI_SUCCESS || (!a->vector && zslots_is_alone(slots, leader, from)))
		return rc;
	return a->vector ? send_with_sizes(s, rest, p) : send_packed(s, rest, p);
}

/* Sends to the other parts, or across to all parts. */
static int send_parts(struct zsched *s, const struct zcoll *a, const struct zslots *slots, bool across)
{
	struct zcomm *to = zsched_partners(s);
	struct zslots rest;
	int rc = zslots_rest(s, slots, alone_from(to), &rest);
	for (int p = 0; p < to->nparts && rc == MPI_SUCCESS; p++) {
		if (across || p != to->my_part)
			rc = send_part(s, a, slots, &rest, p);
	}
	return rc;
}

static int build_root(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	struct zslots slots = zslots_send(a);
	MPI_Count *counts;
	MPI_Aint *displs;
	int rc = send_parts(s, a, &slots, false);
	if (rc == MPI_SUCCESS)
		rc = zslots_local(s, &slots, &counts, &displs);
	if (rc == MPI_SUCCESS)
		rc = zinside_scatterv(s, a->sendbuf, counts, displs, a->sendtype, a->recvbuf, a->recvcount, a->recvtype,
			zcomm_shadow_rank(c, a->root));
	return rc;
}

static int unpack(struct zsched *s, void *arg)
{
	struct share *h = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zbuf_unpack(h->wire, h->buf, h->count, h->type);
}

static int add_unpack(struct zsched *s, struct share *h)
{
	int rc = h->alone < 0 ? MPI_SUCCESS : zstep_close(s, h->alone);
	zsched_round(s);
	return rc != MPI_SUCCESS || h->wire == h->buf ? rc : zstep_call(s, unpack, h);
}

/* Scatterv, leader: the sizes are here. Impossible sizes count as 0, and the schedule fails. */
static int share_out(struct zsched *s, void *arg)
{
	struct zcomm *c = zsched_comm(s);
	struct share *h = arg;
	MPI_Count head = 8 * (MPI_Count)c->nlocal, total = 0;
	struct zcounts out;
	int rc = zcounts_make(s, &out);
	if (rc != MPI_SUCCESS)
		return rc;
	bool sane = h->first_bytes >= head;
	for (int i = 0; i < c->nlocal; i++) {
		uint64_t bytes = sane ? get_le64(h->first + 8 * i) : 0;
		sane = sane && bytes <= (uint64_t)(INT64_MAX - total);
		out.of[i] = sane ? (MPI_Count)bytes : 0;
		total += out.of[i];
	}
	zcounts_place(s, &out);
	bool follow = total > together(c);
	if (!sane || (!follow && h->first_bytes != head + total))
		zsched_fail(s, MPI_ERR_TRUNCATE, "the root's message has a wrong length");
	char *data = h->first + head;
	if (follow) {
		data = zsched_alloc(s, (size_t)total);
		rc = data ? zstep_recv(s, data, total, MPI_BYTE, h->root) : MPI_ERR_NO_MEM;
		zsched_round(s);
	}
	if (rc == MPI_SUCCESS)
		rc = zinside_scatterv(s, data, out.of, out.at, MPI_BYTE, h->wire, h->bytes, MPI_BYTE, 0);
	return rc == MPI_SUCCESS ? add_unpack(s, h) : rc;
}

static int build_remote_vector(struct zsched *s, struct share *h)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Count room = 8 * (MPI_Count)c->nlocal + together(c);
	if (!zleader_is_me(c)) {
		int rc = zinside_scatterv(s, NULL, NULL, NULL, MPI_BYTE, h->wire, h->bytes, MPI_BYTE, 0);
		return rc == MPI_SUCCESS ? add_unpack(s, h) : rc;
	}
	h->first = zsched_alloc(s, (size_t)room);
	int rc = h->first ? zstep_recv_upto(s, h->first, room, h->root, &h->first_bytes) : MPI_ERR_NO_MEM;
	zsched_round(s);
	return rc == MPI_SUCCESS ? zstep_call(s, share_out, h) : rc;
}

/* Receives my share if it travels alone. The share that the leader hands out is empty then. */
static int receive_alone(struct zsched *s, const struct zcoll *a, struct share *h)
{
	const struct zslots mine = {.type = a->recvtype, .count = a->recvcount};
	if (!zslots_is_alone(&mine, 0, alone_from(zsched_comm(s))))
		return MPI_SUCCESS;
	int rc = zstep_recv(s, a->recvbuf, a->recvcount, a->recvtype, a->root);
	if (rc != MPI_SUCCESS)
		return rc;
	h->alone = a->vector ? zstep_open(s) : 0;
	h->buf = NULL;
	h->count = 0;
	h->type = MPI_BYTE;
	return MPI_SUCCESS;
}

static int build_remote(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	char *all = NULL;
	if (c->nlocal == 1)
		return zstep_recv(s, a->recvbuf, a->recvcount, a->recvtype, a->root);
	struct share *h = zsched_alloc(s, sizeof *h);
	if (!h)
		return MPI_ERR_NO_MEM;
	*h = (struct share){.buf = a->recvbuf,
		.count = a->recvcount,
		.type = a->recvtype,
		.root = a->root,
		.alone = -1};
	int rc = receive_alone(s, a, h);
	if (rc != MPI_SUCCESS || (h->alone >= 0 && !a->vector)) /* then all shares do */
		return rc;
	rc = zbuf_wire(s, h->buf, h->count, h->type, &h->wire, &h->bytes);
	if (rc != MPI_SUCCESS)
		return rc;
	if (a->vector)
		return build_remote_vector(s, h);
	if (zleader_is_me(c)) {
		all = zsched_alloc(s, (size_t)(h->bytes * c->nlocal));
		rc = all ? zstep_recv(s, all, h->bytes * c->nlocal, MPI_BYTE, h->root) : MPI_ERR_NO_MEM;
		zsched_round(s);
	}
	if (rc == MPI_SUCCESS)
		rc = zinside_scatter(s, all, h->bytes, MPI_BYTE, h->wire, h->bytes, MPI_BYTE, 0);
	return rc == MPI_SUCCESS ? add_unpack(s, h) : rc;
}

int zscatter_build(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	int rc;
	if (c->rank == a->root)
		rc = build_root(s, a);
	else if (zcomm_is_local_rank(c, a->root))
		rc = zinside_scatterv(s, NULL, NULL, NULL, MPI_BYTE, a->recvbuf, a->recvcount, a->recvtype,
			zcomm_shadow_rank(c, a->root));
	else
		rc = build_remote(s, a);
	zsched_round(s);
	return rc;
}

/* Every part of the other group is away from the root. */
int zscatter_build_across(struct zsched *s, const struct zcoll *a)
{
	int rc = MPI_SUCCESS;
	if (a->root == MPI_ROOT) {
		struct zslots slots = zslots_send(a);
		rc = send_parts(s, a, &slots, true);
	} else if (a->root >= 0) {
		rc = build_remote(s, a);
	}
	zsched_round(s);
	return rc;
}
