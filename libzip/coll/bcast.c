/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A broadcast. The root sends to the leaders of all other parts, by one message that zipperd hands to each of them, and
 * a native broadcast spreads the data in each part. Large data are spread in segments while the rest is still arriving,
 * in one piece for each of several leaders. Between three parts and more, leaders may pass the data on to each other
 * instead (plan.h).
 */
#include "libzip/coll/bcast.h"

#include "libzip/coll/across/across.h"
#include "libzip/coll/across/fanout.h"
#include "libzip/coll/across/plan.h"
#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/schedule/step.h"

struct bcast {
	void *buf;
	MPI_Count count;
	MPI_Datatype type;
	char *wire;	 /* the packed form; the buffer itself where both are the same */
	MPI_Count bytes; /* of the packed form */
	int root;
	bool root_here; /* the root is in my part (across: and in the other group) */
	struct ztuning_settings tune;
	int leaders; /* in each part: each receives a piece */
};

static int pack(struct zsched *s, void *arg)
{
	struct bcast *b = arg;
	(void)s;
	return zbuf_pack(b->buf, b->count, b->type, b->wire);
}

static int unpack(struct zsched *s, void *arg)
{
	struct bcast *b = arg;
	return zsched_failed(s) ? MPI_SUCCESS : zbuf_unpack(b->wire, b->buf, b->count, b->type);
}

/* The beginning of the piece that leader a of each part receives. */
static MPI_Count piece_at(const struct bcast *b, int a)
{
	return b->bytes / b->leaders * a + (a < b->bytes % b->leaders ? a : b->bytes % b->leaders);
}

/* The beginning of segment k of that piece, or the end of the piece. */
static MPI_Count segment_at(const struct bcast *b, MPI_Count segment, int a, int k)
{
	MPI_Count at = piece_at(b, a) + segment * k, end = piece_at(b, a + 1);
	return at < end ? at : end;
}

/* Away from the root: every leader spreads segment k of its piece when it is there. Its last await is for the whole
 * piece, also in a part with one member. */
static int build_remote_segments(struct zsched *s, struct bcast *b)
{
	struct zcomm *c = zsched_comm(s);
	struct zarriving *arriving = NULL; /* NULL also for a native message, which comes as a whole */
	MPI_Count segment = b->tune.segment, longest = piece_at(b, 1);
	int mine = zleader_number(c, b->leaders), rc = MPI_SUCCESS;
	if (segment * b->tune.segments < longest) /* the steps of a schedule are bounded */
		segment = (longest + b->tune.segments - 1) / b->tune.segments;
	int n = c->nlocal > 1 && !b->root_here ? (int)((longest + segment - 1) / segment) : 1;
	if (n == 1)
		segment = longest;
	if (mine >= 0) {
		char *piece = b->wire + piece_at(b, mine);
		MPI_Count bytes = piece_at(b, mine + 1) - piece_at(b, mine);
		if (b->root_here)
			rc = zstep_recv(s, piece, bytes, MPI_BYTE, b->root);
		else if (!(arriving = zstep_recv_bytes(s, piece, bytes, b->root)))
			rc = MPI_ERR_NO_MEM;
		zsched_round(s);
	}
	/* Round k: segment k arrives while segment k - 1 spreads. */
	for (int k = 0; k <= n && rc == MPI_SUCCESS; k++) {
		for (int a = 0; a < b->leaders && k > 0 && c->nlocal > 1 && rc == MPI_SUCCESS; a++) {
			MPI_Count before = segment_at(b, segment, a, k - 1), at = segment_at(b, segment, a, k);
			if (at > before)
				rc = zinside_bcast(s, b->wire + before, at - before, MPI_BYTE,
					zleader_first(c->nlocal, b->leaders, a));
		}
		if (rc == MPI_SUCCESS && k < n && arriving)
			rc = zstep_await(s, arriving, segment_at(b, segment, mine, k + 1) - piece_at(b, mine));
		zsched_round(s);
	}
	return rc;
}

static int send_pieces(struct zsched *s, const struct bcast *b)
{
	int rc = MPI_SUCCESS;
	for (int a = 0; a < b->leaders && rc == MPI_SUCCESS; a++)
		rc = zfanout_to_leaders(s, b->wire + piece_at(b, a), piece_at(b, a + 1) - piece_at(b, a), MPI_BYTE,
			b->leaders, a, &b->tune);
	return rc;
}

static bool is_planned(const struct zsched *s, const struct bcast *b)
{
	return b->bytes > 0 && zplan_is_used(s, &b->tune);
}

static int build_plans(struct zsched *s, const struct bcast *b)
{
	struct zplan_piece *pieces = zsched_alloc(s, (size_t)b->leaders * sizeof *pieces);
	if (!pieces)
		return MPI_ERR_NO_MEM;
	for (int a = 0; a < b->leaders; a++)
		pieces[a] = (struct zplan_piece){.root = b->root,
			.number = a,
			.bytes = piece_at(b, a + 1) - piece_at(b, a),
			.wire = b->wire + piece_at(b, a)};
	return zplan_build(s, pieces, b->leaders, b->leaders, &b->tune);
}

static int build_large_at_root(struct zsched *s, struct bcast *b)
{
	int rc = zbuf_wire(s, b->buf, b->count, b->type, &b->wire, &b->bytes);
	/* Packed when the schedule comes to it: the data may be the result of steps before. */
	if (rc == MPI_SUCCESS && b->wire != b->buf)
		rc = zstep_call(s, pack, b);
	if (rc != MPI_SUCCESS)
		return rc;
	return is_planned(s, b) ? build_plans(s, b) : send_pieces(s, b);
}

static int build_large_away(struct zsched *s, struct bcast *b)
{
	int rc = zbuf_wire(s, b->buf, b->count, b->type, &b->wire, &b->bytes);
	if (rc == MPI_SUCCESS)
		rc = is_planned(s, b) ? build_plans(s, b) : build_remote_segments(s, b);
	return rc == MPI_SUCCESS && b->wire != b->buf ? zstep_call(s, unpack, b) : rc;
}

static int build_large(struct zsched *s, struct bcast *b)
{
	struct zcomm *c = zsched_comm(s);
	const int inside = zstep_next(s);
	int rc = MPI_SUCCESS;
	if (!b->root_here)
		return build_large_away(s, b);
	/* In the root's part the data need not be packed. Its members and the crossing data do not wait for each other.
	 */
	if (c->nlocal > 1)
		rc = zinside_bcast(s, b->buf, b->count, b->type, zcomm_shadow_rank(c, b->root));
	if (rc != MPI_SUCCESS || c->rank != b->root)
		return rc;
	zstep_open_from(s, inside);
	rc = build_large_at_root(s, b);
	return rc == MPI_SUCCESS && c->nlocal > 1 ? zstep_close(s, inside) : rc;
}

static int build_small(struct zsched *s, const struct bcast *b)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	if (c->rank == b->root) {
		rc = zfanout_to_leaders(s, b->buf, b->count, b->type, 1, 0, &b->tune);
	} else if (!b->root_here && zleader_is_me(c)) {
		rc = zstep_recv(s, b->buf, b->count, b->type, b->root);
		zsched_round(s);
	}
	if (rc == MPI_SUCCESS && c->nlocal > 1)
		rc = zinside_bcast(s, b->buf, b->count, b->type, b->root_here ? zcomm_shadow_rank(c, b->root) : 0);
	return rc;
}

/* group: the ranks that get the data, or all ranks. They and the root choose the same settings. */
static struct bcast *make(struct zsched *s, const struct zcomm *group, void *buf, MPI_Count count, MPI_Datatype type,
	int root)
{
	struct bcast *b = zsched_alloc(s, sizeof *b);
	if (!b)
		return NULL;
	*b = (struct bcast){.buf = buf,
		.count = count,
		.type = type,
		.root = root,
		.root_here = root >= 0 && zcomm_is_local_rank(zsched_partners(s), root),
		.bytes = zbuf_wire_bytes(count, type)};
	b->tune = ztune_choose(group, ZTUNING_BCAST, b->bytes);
	b->leaders = b->tune.leaders < group->members_min ? (int)b->tune.leaders : group->members_min;
	if (b->bytes <= b->tune.segment) /* one message */
		b->leaders = 1;
	return b;
}

int zbcast_add(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int root)
{
	struct bcast *b = make(s, zsched_comm(s), buf, count, type, root);
	if (!b)
		return MPI_ERR_NO_MEM;
	int rc = b->bytes > b->tune.segment || is_planned(s, b) ? build_large(s, b) : build_small(s, b);
	zsched_round(s);
	return rc;
}

int zbcast_build(struct zsched *s, const struct zcoll *a)
{
	return zbcast_add(s, a->recvbuf, a->recvcount, a->recvtype, a->root);
}

int zbcast_build_across(struct zsched *s, const struct zcoll *a)
{
	bool root = a->root == MPI_ROOT;
	if (!root && a->root < 0)
		return MPI_SUCCESS;
	struct bcast *b =
		make(s, root ? zsched_partners(s) : zsched_comm(s), a->recvbuf, a->recvcount, a->recvtype, a->root);
	if (!b)
		return MPI_ERR_NO_MEM;
	int rc = b->bytes > b->tune.segment ? (root ? build_large_at_root(s, b) : build_large_away(s, b))
					    : (root ? zacross_send(s, b->buf, b->count, b->type)
						    : zacross_spread(s, b->buf, b->count, b->type, b->root));
	zsched_round(s);
	return rc;
}

int zbcast_run(struct zcomm *c, const char *name, void *buf, MPI_Count count, MPI_Datatype type, int root)
{
	return zcoll_run(c, &(struct zcoll){.name = name,
				    .build = zbcast_build,
				    .recvbuf = buf,
				    .recvcount = count,
				    .recvtype = type,
				    .root = root});
}
