/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The small blocks of an alltoall, together. Each part has some leaders, and each leader is in charge of some members
 * of every part. Members give their blocks for these to that leader, natively. The leader exchanges them with the
 * leader of the same number in every other part, in one message, and hands the blocks from there out to the members
 * that it is in charge of. Where sizes differ between pairs, the sizes travel ahead of the blocks. Between groups the
 * other parts are those of the remote group, also the part that I am in.
 */
#include "libzip/coll/aggregate.h"

#include <string.h>

#include "libzip/coll/base/counts.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/inside/inside.h"

/* The blocks exchanged with one other part. Its members are numbered in their part, mine by rank in the shadow. */
struct zbundle {
	const struct zalltoall *x;
	int n;		    /* its members */
	const int *members; /* [n]: their ranks */
	int32_t *out_bytes,
		*in_bytes; /* [n]: bytes of my blocks for and from its members; 0: the block is not in here */
	char *out, *in;	   /* these blocks, in the order of its members */
	/* In a leader, which is in charge of the members [low, high) there, and [my_low, my_high) here. */
	int partner, low, high, my_low, my_high;
	int32_t *got_bytes; /* [nlocal][high - low] */
	char *got;
	int32_t *msg_bytes; /* [high - low][nlocal]: bytes of the blocks that I send */
	char *msg;
	int32_t *from_bytes; /* [my_high - my_low][n]: bytes of the blocks that the partner sends */
	char *from;
	int sizes_sent[2], msg_sent[2]; /* open steps, -1: none; in pairs for zside_close */
};

/* each NULL: all are 1. */
static MPI_Count sum(const int32_t *each, int low, int high)
{
	MPI_Count total = 0;
	for (int i = low; i < high; i++)
		total += each ? each[i] : 1;
	return total;
}

static int pack(struct zsched *s, void *arg)
{
	struct zbundle *b = arg;
	char *at = b->out;
	int rc = MPI_SUCCESS;
	(void)s;
	for (int i = 0; i < b->n && rc == MPI_SUCCESS; at += b->out_bytes[i++]) {
		int r = b->members[i];
		const struct zside *d = &b->x->send;
		if (b->out_bytes[i] > 0)
			rc = zbuf_pack(zside_at(d, r), zslots_count(&d->slots, r), zside_type(d, r), at);
	}
	return rc;
}

static int unpack(struct zsched *s, void *arg)
{
	struct zbundle *b = arg;
	char *at = b->in;
	int rc = MPI_SUCCESS;
	for (int i = 0; i < b->n && rc == MPI_SUCCESS && !zsched_failed(s); at += b->in_bytes[i++]) {
		int r = b->members[i];
		const struct zside *d = &b->x->recv;
		if (b->in_bytes[i] > 0)
			rc = zbuf_unpack(at, zside_at(d, r), zslots_count(&d->slots, r), zside_type(d, r));
	}
	return rc;
}

static int32_t small(const struct zside *d, int r, MPI_Count limit)
{
	MPI_Count bytes = zside_bytes(d, r);
	return bytes <= limit ? (int32_t)bytes : 0;
}

static struct zbundle *make_bundle(struct zsched *s, const struct zalltoall *x, int part)
{
	struct zcomm *c = zsched_comm(s), *partners = zsched_partners(s);
	struct zbundle *b = zsched_alloc(s, sizeof *b);
	int n = partners->parts[part].count, a = zleader_number(c, x->leaders);
	if (!b)
		return NULL;
	*b = (struct zbundle){.x = x,
		.n = n,
		.members = partners->parts[part].member,
		.sizes_sent = {-1, -1},
		.msg_sent = {-1, -1}};
	b->out_bytes = zsched_alloc(s, (size_t)n * sizeof *b->out_bytes);
	b->in_bytes = zsched_alloc(s, (size_t)n * sizeof *b->in_bytes);
	if (!b->out_bytes || !b->in_bytes)
		return NULL;
	for (int i = 0; i < n; i++) {
		b->out_bytes[i] = small(&x->send, b->members[i], x->limit);
		b->in_bytes[i] = small(&x->recv, b->members[i], x->limit);
	}
	b->out = zsched_alloc(s, (size_t)sum(b->out_bytes, 0, n));
	b->in = zsched_alloc(s, (size_t)sum(b->in_bytes, 0, n));
	if (a >= 0) {
		b->partner = b->members[zleader_first(n, x->leaders, a)];
		b->low = zleader_first(n, x->leaders, a);
		b->high = zleader_first(n, x->leaders, a + 1);
		b->my_low = zleader_first(c->nlocal, x->leaders, a);
		b->my_high = zleader_first(c->nlocal, x->leaders, a + 1);
	}
	return b->out && b->in ? b : NULL;
}

int zaggregate_pack(struct zsched *s, struct zalltoall *x)
{
	struct zcomm *partners = zsched_partners(s);
	int rc = MPI_SUCCESS, mine = partners == zsched_comm(s) ? partners->my_part : -1;
	x->bundles = zsched_alloc(s, (size_t)partners->nparts * sizeof(struct zbundle *));
	for (int p = 0; x->bundles && p < partners->nparts && rc == MPI_SUCCESS; p++) {
		x->bundles[p] = p == mine ? NULL : make_bundle(s, x, p);
		if (p == mine)
			continue;
		rc = x->bundles[p] ? zstep_call(s, pack, x->bundles[p]) : MPI_ERR_NO_MEM;
	}
	return x->bundles ? rc : MPI_ERR_NO_MEM;
}

/* The two sides of a native exchange among the members of my part. */
static int make_counts(struct zsched *s, struct zcounts *out, struct zcounts *in)
{
	int rc = zcounts_make(s, out);
	return rc == MPI_SUCCESS ? zcounts_make(s, in) : rc;
}

/* Members give their elements for members of the other part to the leaders in charge of these. each[n] are my numbers
 * of elements, and got_each[nlocal][high - low], in a leader, those of all members. NULL: all are 1. */
static int give(struct zsched *s, const struct zbundle *b, const void *out, const int32_t *each, void *got,
	const int32_t *got_each, MPI_Datatype type)
{
	struct zcomm *c = zsched_comm(s);
	struct zcounts gives, gets;
	int leaders = b->x->leaders, wide = b->high - b->low, rc = make_counts(s, &gives, &gets);
	if (rc != MPI_SUCCESS)
		return rc;
	for (int i = 0; i < c->nlocal && wide > 0; i++)
		gets.of[i] = sum(got_each, i * wide, (i + 1) * wide);
	zcounts_place(s, &gets);
	if (leaders == 1)
		return zinside_gatherv(s, out, sum(each, 0, b->n), type, got, gets.of, gets.at, type, 0);
	for (int a = 0; a < leaders; a++)
		gives.of[zleader_first(c->nlocal, leaders, a)] =
			sum(each, zleader_first(b->n, leaders, a), zleader_first(b->n, leaders, a + 1));
	zcounts_place(s, &gives);
	return zinside_alltoallv(s, out, gives.of, gives.at, type, got, gets.of, gets.at, type);
}

/* Leaders hand the data from the other part out to their members, as from_bytes says. */
static int hand_out(struct zsched *s, const struct zbundle *b)
{
	struct zcounts gives, gets;
	MPI_Count mine = sum(b->in_bytes, 0, b->n);
	int leaders = b->x->leaders, members, rc = make_counts(s, &gives, &gets);
	if (rc != MPI_SUCCESS)
		return rc;
	for (int i = b->my_low; i < b->my_high; i++)
		gives.of[i] = sum(b->from_bytes, (i - b->my_low) * b->n, (i - b->my_low + 1) * b->n);
	zcounts_place(s, &gives);
	if (leaders == 1)
		return zinside_scatterv(s, b->from, gives.of, gives.at, MPI_BYTE, b->in, mine, MPI_BYTE, 0);
	gets.of[zleader_mine(zsched_comm(s), leaders, &members)] = mine;
	return zinside_alltoallv(s, b->from, gives.of, gives.at, MPI_BYTE, b->in, gets.of, gets.at, MPI_BYTE);
}

/* Reorders the blocks: from the order of the giving members to that of the members that they are for. */
static int arrange(struct zsched *s, void *arg)
{
	struct zbundle *b = arg;
	int nlocal = zsched_comm(s)->nlocal, wide = b->high - b->low;
	char *to = b->msg;
	MPI_Aint *from = zsched_alloc(s, (size_t)nlocal * sizeof *from);
	if (!from)
		return MPI_ERR_NO_MEM;
	from[0] = 0;
	for (int i = 1; i < nlocal; i++)
		from[i] = from[i - 1] + (MPI_Aint)sum(b->got_bytes, (i - 1) * wide, i * wide);
	for (int j = 0; j < wide; j++) {
		for (int i = 0; i < nlocal; i++) {
			int32_t bytes = b->got_bytes[i * wide + j];
			b->msg_bytes[j * nlocal + i] = bytes;
			memcpy(to, b->got + from[i], (size_t)bytes);
			from[i] += bytes;
			to += bytes;
		}
	}
	return MPI_SUCCESS;
}

/* Impossible sizes count as 0, and the schedule fails. */
static void check_sizes(struct zsched *s, int32_t *each, int n, MPI_Count limit)
{
	for (int i = 0; i < n; i++) {
		if (each[i] >= 0 && each[i] <= limit && !zsched_failed(s))
			continue;
		zsched_fail(s, MPI_ERR_TRUNCATE, "another member's message does not add up");
		each[i] = 0;
	}
}

/* For every bundle; stops at an error. */
static int each_bundle(struct zsched *s, struct zalltoall *x, int (*fn)(struct zsched *, struct zbundle *))
{
	int rc = MPI_SUCCESS;
	for (int p = 0; p < zsched_partners(s)->nparts && rc == MPI_SUCCESS; p++)
		if (x->bundles[p])
			rc = fn(s, x->bundles[p]);
	return rc;
}

static int add_give(struct zsched *s, struct zbundle *b)
{
	if (b->high > b->low) {
		b->got = zsched_alloc(s, (size_t)sum(b->got_bytes, 0, zsched_comm(s)->nlocal * (b->high - b->low)));
		if (!b->got)
			return MPI_ERR_NO_MEM;
	}
	return give(s, b, b->out, b->out_bytes, b->got, b->got_bytes, MPI_BYTE);
}

static int add_give_sizes(struct zsched *s, struct zbundle *b)
{
	return give(s, b, b->out_bytes, NULL, b->got_bytes, NULL, MPI_INT32_T);
}

static int add_hand_out(struct zsched *s, struct zbundle *b)
{
	return hand_out(s, b);
}

static int add_unpack(struct zsched *s, struct zbundle *b)
{
	return zstep_call(s, unpack, b);
}

static int add_end(struct zsched *s, struct zbundle *b)
{
	int rc = zside_close(s, b->sizes_sent);
	return rc == MPI_SUCCESS ? zside_close(s, b->msg_sent) : rc;
}

/* The last rounds, which all members have. */
static int build_end(struct zsched *s, struct zalltoall *x)
{
	int rc = each_bundle(s, x, add_hand_out);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = each_bundle(s, x, add_unpack);
	if (rc == MPI_SUCCESS)
		rc = each_bundle(s, x, add_end);
	if (rc == MPI_SUCCESS && x->local >= 0)
		rc = zstep_close(s, x->local);
	zsched_round(s);
	return rc;
}

static int recv_sizes(struct zsched *s, struct zbundle *b)
{
	return zstep_recv(s, b->from_bytes, (MPI_Count)b->n * (b->my_high - b->my_low), MPI_INT32_T, b->partner);
}

static int recv_blocks(struct zsched *s, struct zbundle *b)
{
	MPI_Count bytes = sum(b->from_bytes, 0, b->n * (b->my_high - b->my_low));
	b->from = zsched_alloc(s, (size_t)bytes);
	if (!b->from)
		return MPI_ERR_NO_MEM;
	return bytes > 0 ? zstep_recv(s, b->from, bytes, MPI_BYTE, b->partner) : MPI_SUCCESS;
}

/* The sends are left open: the partner takes the blocks only when it has our sizes. */
static int send_all(struct zsched *s, struct zbundle *b)
{
	int n = zsched_comm(s)->nlocal * (b->high - b->low), rc;
	MPI_Count bytes = sum(b->got_bytes, 0, n);
	b->msg = zsched_alloc(s, (size_t)bytes);
	if (!b->msg)
		return MPI_ERR_NO_MEM;
	rc = zstep_call(s, arrange, b);
	if (rc == MPI_SUCCESS && b->x->block < 0) {
		rc = zstep_send(s, b->msg_bytes, n, MPI_INT32_T, b->partner);
		if (rc == MPI_SUCCESS)
			b->sizes_sent[0] = zstep_open(s);
	}
	if (rc == MPI_SUCCESS && bytes > 0) {
		rc = zstep_send(s, b->msg, bytes, MPI_BYTE, b->partner);
		if (rc == MPI_SUCCESS)
			b->msg_sent[0] = zstep_open(s);
	}
	return rc;
}

/* In a leader: the sizes of the blocks that come are known. */
static int take_blocks(struct zsched *s, void *arg)
{
	struct zalltoall *x = arg;
	for (int p = 0; p < zsched_partners(s)->nparts; p++) {
		struct zbundle *b = x->bundles[p];
		if (b)
			check_sizes(s, b->from_bytes, b->n * (b->my_high - b->my_low), x->limit);
	}
	int rc = each_bundle(s, x, recv_blocks);
	zsched_round(s);
	return rc == MPI_SUCCESS ? build_end(s, x) : rc;
}

static int check_gifts(struct zsched *s, struct zbundle *b)
{
	check_sizes(s, b->got_bytes, zsched_comm(s)->nlocal * (b->high - b->low), b->x->limit);
	return MPI_SUCCESS;
}

/* In a leader: the sizes of my members' blocks are known. */
static int take_gifts(struct zsched *s, void *arg)
{
	struct zalltoall *x = arg;
	bool sized = x->block >= 0;
	int rc = sized ? MPI_SUCCESS : each_bundle(s, x, check_gifts);
	if (rc == MPI_SUCCESS)
		rc = each_bundle(s, x, add_give);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = each_bundle(s, x, sized ? recv_blocks : recv_sizes);
	if (rc == MPI_SUCCESS)
		rc = each_bundle(s, x, send_all);
	zsched_round(s);
	if (rc != MPI_SUCCESS)
		return rc;
	return sized ? build_end(s, x) : zstep_call(s, take_blocks, x);
}

/* Makes a leader's arrays. Where all sizes are the same, it knows them. */
static int make_leader(struct zsched *s, struct zbundle *b)
{
	size_t out = (size_t)zsched_comm(s)->nlocal * (size_t)(b->high - b->low);
	size_t in = (size_t)b->n * (size_t)(b->my_high - b->my_low);
	b->got_bytes = zsched_alloc(s, out * sizeof *b->got_bytes);
	b->msg_bytes = zsched_alloc(s, out * sizeof *b->msg_bytes);
	b->from_bytes = zsched_alloc(s, in * sizeof *b->from_bytes);
	if (!b->got_bytes || !b->msg_bytes || !b->from_bytes)
		return MPI_ERR_NO_MEM;
	int32_t known = b->x->block >= 0 ? (int32_t)b->x->block : 0;
	for (size_t i = 0; i < out; i++)
		b->got_bytes[i] = known;
	for (size_t i = 0; i < in; i++)
		b->from_bytes[i] = known;
	return MPI_SUCCESS;
}

int zaggregate_exchange(struct zsched *s, struct zalltoall *x)
{
	bool leader = zleader_number(zsched_comm(s), x->leaders) >= 0;
	int rc = leader ? each_bundle(s, x, make_leader) : MPI_SUCCESS;
	zsched_round(s);
	if (rc == MPI_SUCCESS && x->block < 0)
		rc = each_bundle(s, x, add_give_sizes);
	zsched_round(s);
	if (rc == MPI_SUCCESS && leader)
		return x->block < 0 ? zstep_call(s, take_gifts, x) : take_gifts(s, x);
	if (rc == MPI_SUCCESS)
		rc = each_bundle(s, x, add_give);
	zsched_round(s);
	return rc == MPI_SUCCESS ? build_end(s, x) : rc;
}
