/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading large messages from the sender's memory, see fetch.h. */
#include "libzip/stream/fetch.h"

#include <string.h>

#include "libzip/shim/pool.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/op.h"
#include "libzip/stream/remote.h"

#define REAP_BATCH 16

struct zfetch { /* of a receive; from the pool */
	struct zop *op;
	const struct zrma *rma;
	struct zregion *region;
	uint64_t started;
	unsigned under_way; /* reads */
	bool failed;
	uint8_t key[ZRMA_KEY_BYTES];
};

/* False: the link takes no more now. */
static bool start_read(struct zchannel *ch, struct zfetch *f, const struct zrma_limits *limits)
{
	struct zop *op = f->op;
	uint64_t left = op->t.total - f->started;
	const struct zrma_op read = {.key = f->key,
		.offset = f->started,
		.local = zop_bytes(op) + f->started,
		.len = left < limits->max_bytes ? (size_t)left : limits->max_bytes,
		.region = f->region,
		.cookie = f};

	if (ch->link->ops->rma->read(ch->link, &read) != 0)
		return false; /* if the link is broken, the next turn finds out why */
	f->started += read.len;
	f->under_way++;
	return true;
}

static bool start_reads(struct zchannel *ch)
{
	struct zrma_limits limits;
	bool did = false;

	ch->link->ops->rma->limits(ch->link, &limits);
	for (struct zop *op = ch->fetching.head; op; op = op->next)
		while (op->t.fetch->started < op->t.total) {
			if (!start_read(ch, op->t.fetch, &limits))
				return did;
			did = true;
		}
	return did;
}

bool zfetch_start(struct zop *op, const uint8_t key[ZRMA_KEY_BYTES])
{
	struct zchannel *ch = op->remote->channel;
	const struct zrma *rma =
		ch->link ? ch->link->ops->rma : NULL; /* the peer may have left without waiting for us */
	struct zrma_limits limits = {.reads = 0};
	struct zfetch *f = NULL;

	if (rma)
		rma->limits(ch->link, &limits);
	if (limits.reads > 0)
		f = zpool_get(sizeof(*f));
	if (!f)
		return false;
	*f = (struct zfetch){.op = op, .rma = rma};
	if (rma->pin(ch->link, ZLINK_RX, zop_bytes(op), op->t.total, &f->region) != 0) {
		zpool_put(f);
		return false;
	}
	memcpy(f->key, key, sizeof(f->key));
	op->t.fetch = f;
	zoplist_push(&ch->fetching, op);
	start_reads(ch);
	return true;
}

static void end(struct zchannel *ch, struct zop *op)
{
	zoplist_del(&ch->fetching, op);
	op->t.fetch->rma->unpin(op->t.fetch->region);
	zpool_put(op->t.fetch);
	op->t.fetch = NULL;
}

int zfetch_turn(struct zchannel *ch, struct zoplist *came)
{
	const struct zrma *rma = ch->link->ops->rma;
	struct zrma_done done[REAP_BATCH];
	bool did = false;
	int n;

	while ((n = rma->reap(ch->link, ZLINK_RX, done, REAP_BATCH)) > 0) {
		did = true;
		for (int i = 0; i < n; i++) {
			struct zfetch *f = done[i].cookie;
			struct zop *op = f->op;
			f->under_way--;
			f->failed |= done[i].rc != 0; /* the reason comes when all have been reported */
			if (f->under_way > 0 || f->started < op->t.total || f->failed)
				continue;
			end(ch, op);
			zoplist_push(came, op);
		}
	}
	if (n < 0)
		return n;
	return start_reads(ch) || did;
}

void zfetch_drop(struct zchannel *ch)
{
	while (ch->fetching.head) {
		struct zop *op = ch->fetching.head;
		end(ch, op);
		zop_finish_recv(op, op->remote->vrank, op->req.status.MPI_TAG, 0, MPI_ERR_OTHER);
	}
}
