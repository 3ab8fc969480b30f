/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's half of a transfer, and what it grants, see transfer_recv.h. */
#include "libzip/stream/transfer_recv.h"

#include <assert.h>
#include <errno.h>

#include "libzip/shim/pool.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/fetch.h"
#include "libzip/stream/op.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/transfer.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

#define ASKED_MAX 64 /* more transfers than the window has room for; each fragment asks again */

void ztransfer_recv_fini(struct zstation *s)
{
	s->granting = (struct zoplist){0};
	s->outstanding = 0;
}

/* How many more bytes the transfer may have granted now; 0: none yet. The oldest transfer is asked first. Every grant
 * wakes all processes on the way, so a grant waits until there is room for a large one. Until then the bytes that are
 * out keep the sender busy. */
static uint64_t next_grant(const struct zstation *s, const struct zop *op)
{
	uint64_t window = zworld.rdv_window, free = window > s->outstanding ? window - s->outstanding : 0;
	uint64_t want = op->t.total - op->t.granted, has = op->t.granted - op->t.moved;
	uint64_t least = zworld.frag_bytes ? zworld.frag_bytes : ZTRANSPORT_FRAGMENT_MAX;
	/* A sender that has sent nothing yet may be computing: a small grant to it leaves more for the others. */
	uint64_t share = op->t.moved > 0 ? window / 2 : window / 8;

	if (share < least)
		share = least < window ? least : window;
	if (has > share / 2) /* granted again when half is used, so that the sender never stops */
		return 0;
	if (want > share - has)
		want = share - has;
	return want <= free ? want : 0;
}

static void post_cts(struct zop *op)
{
	struct zwire_env env = {.kind = ZWIRE_CTS,
		.xfer = op->t.peer_xfer,
		.comm = op->t.xfer,
		.tag = op->t.epoch,
		.offset = op->t.granted};

	if (op->t.answer == ZTRANSFER_ANSWERS_OFFER)
		env.flags = ZWIRE_F_ONE_SIDED;
	if (op->t.answer == ZTRANSFER_ANSWERS_LOSS) {
		env.flags |= ZWIRE_F_RESTART;
		env.seq = op->t.moved;
	}
	op->t.answer = ZTRANSFER_ANSWERS_RTS;
	if (op->t.exposed)
		env.len = ZRMA_KEY_BYTES;
	zpost_control(op->remote, op->t.way, &env, op->t.exposed ? op->t.exposure.key : NULL);
}

/* Asks every waiting transfer once, in turns, but not more than ASKED_MAX. If none of those could be granted anything,
 * bytes are out; when they come, the next transfers are asked. True: some transfer was granted more. */
static bool grant_more(struct zstation *s)
{
	struct zop *last = s->granting.tail, *op;
	bool did = false;

	for (int i = 0; i < ASKED_MAX && (op = zoplist_pop(&s->granting)); i++) {
		bool was_last = op == last;
		uint64_t more = next_grant(s, op);
		if (more > 0) {
			op->t.granted += more;
			s->outstanding += more;
			post_cts(op);
			did = true;
		}
		if (op->t.granted < op->t.total)
			zoplist_push(&s->granting, op);
		if (was_last)
			break;
	}
	return did;
}

/* Takes the message one-sided, as the sender has offered. False: it goes in fragments. */
static bool take_offer(struct zop *op, const struct ztransfer_rts *rts)
{
	if (!rts->key) {
		if (!ztransfer_expose(op))
			return false;
		op->t.granted = op->t.total;
		post_cts(op);
		return true;
	}
	if (ztransfer_one_sided == ZTRANSFER_ONE_SIDED_NO || !zfetch_start(op, rts->key))
		return false;
	op->t.answer = ZTRANSFER_ANSWERS_RTS; /* DONE will answer it */
	return true;
}

void ztransfer_recv_start(struct zop *op, struct zremote *from, const struct ztransfer_rts *rts)
{
	struct zstation *s = from->station;
	const uint64_t total = rts->total;
	int error = zop_check_fit(op, rts->flags, total);

	op->remote = from;
	op->t.way = rts->way;
	op->t.peer_xfer = rts->xfer;
	op->t.total = total;
	op->t.granted = op->t.moved = 0;
	op->t.answer = rts->flags & ZWIRE_F_ONE_SIDED ? ZTRANSFER_ANSWERS_OFFER : ZTRANSFER_ANSWERS_RTS;
	if (error == MPI_SUCCESS && !op->data.dense && total > 0) {
		op->packed = zpool_get(total); /* total is at most the room that the application gave */
		if (!op->packed)
			error = MPI_ERR_NO_MEM;
	}
	if (error == MPI_SUCCESS && total > 0 && ztransfer_add(op) != 0)
		error = MPI_ERR_NO_MEM;
	op->req.status.MPI_TAG = rts->tag;
	if (error != MPI_SUCCESS || total == 0) {
		op->t.way = NULL;
		ztransfer_post_done(from, rts->way, rts->xfer, rts->flags & ZWIRE_F_ONE_SIDED);
		zop_finish_recv(op, from->vrank, rts->tag, error == MPI_ERR_TRUNCATE ? op->data.bytes : 0, error);
		return;
	}
	if (op->t.answer == ZTRANSFER_ANSWERS_OFFER && take_offer(op, rts))
		return;
	zoplist_push(&s->granting, op);
	grant_more(s);
}

static struct zop *find_fragment(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = ztransfer_find(env->xfer, ZOP_RECV, from);

	/* Fragments come in order, and within the grant: one track carries a transfer, and after its loss another
	 * one. */
	if (!op || op->t.exposed || op->t.fetch || env->tag != op->t.epoch || env->offset != op->t.moved ||
		env->len > op->t.granted - op->t.moved)
		return NULL;
	return op;
}

uint8_t *ztransfer_recv_place(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = find_fragment(from, env);

	if (!op)
		return NULL;
	return zop_bytes(op) + env->offset;
}

static void all_came(struct zop *op)
{
	int error = MPI_SUCCESS;

	assert(!op->queued);
	if (op->packed)
		error = zdata_unpack(op->packed, op->t.total, op->buf, op->count, op->type);
	zop_finish_recv(op, op->remote->vrank, op->req.status.MPI_TAG, op->t.total, error);
}

void ztransfer_recv_fetched(struct zop *op)
{
	op->t.moved = op->t.total;
	ztransfer_post_done(op->remote, op->t.way, op->t.peer_xfer, 0);
	all_came(op);
}

int ztransfer_recv_take_data(struct zremote *from, const struct zwire_env *env)
{
	struct zstation *s = from->station;
	struct zop *op = find_fragment(from, env);

	if (!op)
		return ztransfer_refuse_stale(from);
	struct zchannel *way = ztransfer_way(op);
	op->t.moved += env->len;
	s->outstanding -= env->len;
	if (op->t.moved == op->t.total) {
		ztransfer_post_done(from, op->t.way, op->t.peer_xfer, 0);
		all_came(op);
	}
	/* At once: this turn may have much more to take, and the sender has used up its grant by then. */
	if (s->granting.head && grant_more(s))
		zpost_flush(way);
	return 0;
}

/* All bytes had been moved: the zipper that was lost had told the sender, and did not come to tell this rank. */
static int was_moved(const struct zremote *from, struct zop *op)
{
	struct zstation *s = from->station;

	if (!op || !op->t.written || op->t.exposed || op->t.moved > 0)
		return ztransfer_refuse_stale(from);
	if (op->queued)
		zoplist_del(&s->granting, op);
	s->outstanding -= op->t.granted;
	op->t.moved = op->t.granted = op->t.total;
	all_came(op);
	grant_more(s); /* perhaps no fragment is under way whose arrival would make the others ask */
	return 0;
}

int ztransfer_recv_take_moved(struct zremote *from, const struct zwire_env *env)
{
	struct zop *op = ztransfer_find(env->xfer, ZOP_RECV, from);

	if (env->flags & ZWIRE_F_RESTART)
		return was_moved(from, op);
	if (!op || !op->t.exposed || (env->offset != op->t.total && env->offset != 0))
		return ztransfer_refuse_stale(from);
	op->t.moved = env->offset;
	if (op->t.moved == op->t.total) {
		all_came(op);
		return 0;
	}
	ztransfer_conceal(op);
	op->t.answer = ZTRANSFER_ANSWERS_OFFER; /* the offer is to be declined */
	op->t.granted = 0;
	zoplist_push(&from->station->granting, op);
	grant_more(from->station);
	return 0;
}

/* Nothing more is granted, and nothing counts that zipperd was writing. */
void ztransfer_recv_take_back(struct zop *op)
{
	if (op->queued)
		zoplist_del(&zop_station(op)->granting, op);
	if (op->t.exposed) {
		op->t.written = true;
		op->t.granted = op->t.moved = 0;
	}
}

void ztransfer_recv_restart(struct zop *op)
{
	struct zstation *s = zop_station(op);

	ztransfer_recv_take_back(op);
	ztransfer_conceal(op);
	s->outstanding -= op->t.granted - op->t.moved;
	op->t.granted = op->t.moved;
	op->t.way = NULL;
	op->t.adrift = false;
	op->t.answer = ZTRANSFER_ANSWERS_LOSS;
	op->t.epoch = (int32_t)zrails.losses;
	zchannel_unplace(s, op->t.xfer); /* a fragment that is half there belongs to the epoch before, and must not be
					  written after the rest */
	zoplist_push(&s->granting, op);
	grant_more(s);
}
