/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks between pairs of members of a part. */
#include "libzip/coll/inside/pairs.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libzip/schedule/step.h"
#include "libzip/world/board.h"
#include "libzip/world/error.h"
#include "libzip/coll/base/buf.h"
#include "libzip/coll/inside/shared.h"
#include "libzip/shim/shim.h"

#define TAG_OPERATIONS 256 /* far more than there can be under way on one board */

static MPI_Comm own = MPI_COMM_NULL; /* over the base communicator */

struct slot {
	alignas(max_align_t) bool sends; /* natively: there are no data here */
	int64_t at[];			 /* [members + 1]: where the blocks begin in the data, which follow wants */
};
/* Behind at: uint64_t wants[], a bit for each member from which this member expects a block. */

struct exchange {
	struct zboard *board;
	uint64_t operation;
	bool begun, given;
	int me, members, left; /* left: blocks that have not come */
	int unsent;	       /* native blocks for members that have not said yet whether they want them */
	struct zpairs out, in;
	bool *taken, *waits;	      /* [members] each: has come; is unsent */
	MPI_Request *sent, *received; /* [members] each */
};

int zpairs_init(void)
{
	int rc = zn.Comm_dup(zworld.base, &own);
	return rc == MPI_SUCCESS ? zn.Comm_set_errhandler(own, MPI_ERRORS_RETURN) : rc;
}

void zpairs_fini(void)
{
	if (own != MPI_COMM_NULL)
		zn.Comm_free(&own);
}

static MPI_Datatype type_of(const struct zpairs *p, int i)
{
	return p->types ? p->types[i] : p->type;
}

static void *block_of(const struct zpairs *p, int i)
{
	return p->types ? (char *)p->buf + p->displs[i] : zbuf_at(p->buf, p->displs[i], zbuf_extent(p->type));
}

static MPI_Count bytes_of(const struct zpairs *p, int i)
{
	return p->counts[i] * zbuf_size(type_of(p, i));
}

static int rank_in_part(const struct zsched *s, int i)
{
	const struct zcomm *c = zsched_comm(s);
	return (int)zworld.place[c->vrank[c->shadow_to_rank[i]]].lrank;
}

/* In one operation on one board there is one message from each member to each other one. */
static int tag_of(const struct exchange *x)
{
	return zboard_number(x->board) * TAG_OPERATIONS + (int)(x->operation % TAG_OPERATIONS);
}

static uint64_t *wants_of(const struct slot *slot, int members)
{
	return (uint64_t *)(uintptr_t)&slot->at[members + 1];
}

static char *data_of(const struct slot *slot, int members)
{
	return (char *)(wants_of(slot, members) + (members + 63) / 64);
}

static void tell_wants(const struct exchange *x, struct slot *slot)
{
	uint64_t *wants = wants_of(slot, x->members);
	memset(wants, 0, (size_t)(x->members + 63) / 64 * sizeof *wants);
	for (int i = 0; i < x->members; i++)
		if (bytes_of(&x->in, i) > 0)
			wants[i / 64] |= UINT64_C(1) << i % 64;
}

static int rank_of(const struct zsched *s, int i)
{
	return zsched_comm(s)->shadow_to_rank[i];
}

/* A block for a member that expects none is an error. */
static void fail_unwanted(struct zsched *s, const struct exchange *x, int to)
{
	zsched_fail_text(s, MPI_ERR_TRUNCATE,
		"members gave different amounts of data: %lld bytes are for rank %d, which expects none",
		(long long)bytes_of(&x->out, to), rank_of(s, to));
}

static void keep_error(struct zsched *s, int rc)
{
	if (rc != MPI_SUCCESS)
		zsched_fail(s, zerror_class(rc), NULL);
}

static void send_later(struct exchange *x)
{
	for (int i = 0; i < x->members; i++) {
		x->waits[i] = i != x->me && bytes_of(&x->out, i) > 0;
		x->unsent += x->waits[i];
	}
}

/* Sends only to a member that wants the block. Nobody would receive it otherwise, and a later operation would find it.
 */
static void send_natively(struct zsched *s, struct exchange *x, int to)
{
	const struct slot *slot = x->waits[to] ? zboard_look(x->board, x->operation, to) : NULL;
	if (!slot)
		return;
	x->waits[to] = false;
	x->unsent--;
	if (wants_of(slot, x->members)[x->me / 64] >> x->me % 64 & 1)
		keep_error(s, zn.Isend_c(block_of(&x->out, to), x->out.counts[to], type_of(&x->out, to),
				      rank_in_part(s, to), tag_of(x), own, &x->sent[to]));
	else
		fail_unwanted(s, x, to);
}

static int fill(struct exchange *x, struct slot *slot)
{
	char *data = data_of(slot, x->members);
	int rc = MPI_SUCCESS;
	for (int i = 0; i < x->members && rc == MPI_SUCCESS; i++)
		if (i != x->me)
			rc = zshared_pack(block_of(&x->out, i), x->out.counts[i], type_of(&x->out, i),
				data + slot->at[i]);
	return rc;
}

/* False: my slot is not free yet. */
static bool give(struct zsched *s, struct exchange *x)
{
	struct slot *slot;
	int64_t total = 0;
	for (int i = 0; i < x->members; i++)
		total += i == x->me ? 0 : bytes_of(&x->out, i);
	if (!(slot = zboard_mine(x->board, x->operation)))
		return false;
	slot->at[0] = 0;
	for (int i = 0; i < x->members; i++)
		slot->at[i + 1] = slot->at[i] + (i == x->me ? 0 : bytes_of(&x->out, i));
	slot->sends = data_of(slot, x->members) + total > (char *)slot + zboard_bytes(x->board);
	tell_wants(x, slot);
	if (slot->sends)
		send_later(x);
	else
		keep_error(s, fill(x, slot));
	zboard_publish(x->board, x->operation);
	return true;
}

/* A block of another size than expected is received all the same, as its giver waits for that. But it is received
 * elsewhere, as native MPI would raise an error on MPI_COMM_WORLD. */
static int take_natively(struct zsched *s, struct exchange *x, int from, int64_t given)
{
	bool agree = given == bytes_of(&x->in, from);
	if (!agree)
		zsched_fail_amount(s, rank_of(s, from), given, bytes_of(&x->in, from));
	void *buf = agree ? block_of(&x->in, from) : zsched_alloc(s, (size_t)given);
	if (!agree && !buf) /* MPI_BOTTOM is NULL, too */
		return MPI_ERR_NO_MEM;
	int rc = zn.Irecv_c(buf, agree ? x->in.counts[from] : given, agree ? type_of(&x->in, from) : MPI_BYTE,
		rank_in_part(s, from), tag_of(x), own, &x->received[from]);
	return rc;
}

static int take(struct zsched *s, struct exchange *x, int from, const struct slot *slot)
{
	const char *data = data_of(slot, x->members);
	int64_t given = slot->at[x->me + 1] - slot->at[x->me];
	if (slot->sends && given > 0)
		return take_natively(s, x, from, given);
	if (given != bytes_of(&x->in, from)) {
		zsched_fail_amount(s, rank_of(s, from), given, bytes_of(&x->in, from));
		return MPI_ERR_TRUNCATE;
	}
	return zshared_unpack(data + slot->at[x->me], block_of(&x->in, from), x->in.counts[from],
		type_of(&x->in, from));
}

static void look_at(struct zsched *s, struct exchange *x, int from)
{
	const struct slot *slot = x->taken[from] ? NULL : zboard_look(x->board, x->operation, from);
	if (!slot)
		return;
	keep_error(s, take(s, x, from, slot));
	x->taken[from] = true;
	x->left--;
}

static bool is_over(struct zsched *s, MPI_Request *requests, int n)
{
	int flag = 1;
	for (int i = 0; i < n && flag; i++) {
		int rc = requests[i] != MPI_REQUEST_NULL ? zerror_test_native(&requests[i], &flag, MPI_STATUS_IGNORE)
							 : MPI_SUCCESS;
		const int class = zerror_class(rc);
		if (rc != class && !ZABI_RAISES_ON_OWN) /* there the communicator of these requests has no handler */
			zsched_fail_raised(s, class, rc);
		else if (rc != MPI_SUCCESS)
			zsched_fail(s, class, NULL);
	}
	return flag;
}

static int begin(struct zsched *s, struct exchange *x)
{
	x->operation = zboard_next(x->board);
	x->begun = true;
	if (x->in.counts[x->me] == 0 || x->in.in_place)
		return MPI_SUCCESS;
	return zbuf_copy(s, block_of(&x->out, x->me), x->out.counts[x->me], type_of(&x->out, x->me),
		block_of(&x->in, x->me), x->in.counts[x->me], type_of(&x->in, x->me));
}

static bool look(struct zsched *s, void *arg)
{
	struct exchange *x = arg;
	int rc = x->begun ? MPI_SUCCESS : begin(s, x);
	if (rc != MPI_SUCCESS)
		zsched_fail(s, rc, NULL);
	if (!x->given && !(x->given = give(s, x)))
		return false;
	for (int i = 0; i < x->members && x->left > 0; i++)
		look_at(s, x, i);
	for (int i = 0; i < x->members && x->unsent > 0; i++)
		send_natively(s, x, i);
	if (x->left > 0 || x->unsent > 0 || !zboard_is_turn(x->board, x->operation) ||
		!is_over(s, x->sent, 2 * x->members))
		return false;
	zboard_finish(x->board, x->operation);
	return true;
}

int zpairs_exchange(struct zsched *s, const struct zpairs *out, const struct zpairs *in)
{
	struct zcomm *c = zsched_comm(s);
	size_t n = (size_t)c->nlocal;
	struct exchange *x = zsched_alloc(s, sizeof *x);
	MPI_Request *requests = zsched_alloc(s, 2 * n * sizeof *requests);
	bool *taken = zsched_alloc(s, 2 * n * sizeof *taken);
	if (!x || !requests || !taken)
		return MPI_ERR_NO_MEM;
	*x = (struct exchange){.board = c->board,
		.me = zcomm_shadow_rank(c, c->rank),
		.members = c->nlocal,
		.out = *out,
		.in = *in,
		.taken = taken,
		.waits = taken + n,
		.sent = requests,
		.received = requests + n};
	for (size_t i = 0; i < n; i++) {
		requests[i] = requests[n + i] = MPI_REQUEST_NULL;
		taken[n + i] = false;
		taken[i] = (int)i == x->me || bytes_of(in, (int)i) == 0;
		x->left += !taken[i];
	}
	return zstep_watch(s, look, x);
}
