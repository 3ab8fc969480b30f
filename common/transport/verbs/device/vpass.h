/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message that lies wholly in one registered buffer, and is posted to another link while it is shown, leaves from
 * that buffer. The pools of the two links exchange buffers: the message's buffer is sent, and the buffer into which the
 * message would have been copied receives in its place. So each pool has as many buffers as before, whatever happens to
 * the other pool, and no account changes.
 *
 * The message stays readable until its sink returns, as the sink may post it to further links (then it is copied) or
 * refuse it.
 *
 * Threads: everything is the endpoint's thread's; both halves are of one endpoint.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_PASS_H
#define ZIP_COMMON_TRANSPORT_VERBS_PASS_H

#include <stddef.h>
#include <string.h>

#include "common/transport/verbs/device/vpool.h"
#include "common/wire/wire.h"

struct vpass {
	struct vbuf *shown;   /* the buffer that a sink is looking at; NULL: none */
	struct vbuf *passed;  /* that buffer, once a send has taken it */
	struct vbuf *instead; /* the buffer that was given for it */
	bool done;	      /* that send is complete already */
};

/* Receive half: b is shown from now on. */
static inline void vpass_begin(struct vpass *p, struct vbuf *b)
{
	if (!p->passed) /* otherwise a message is shown while another one is */
		p->shown = b;
}

/* Receive half: b is not shown any more. Returns the buffer that the receive half has from now on. refused: the message
 * is to be shown again, with len bytes of payload; *copied is increased by the bytes that are copied for that. */
static inline struct vbuf *vpass_end(struct vpass *p, struct vbuf *b, bool refused, uint32_t len, uint64_t *copied)
{
	p->shown = NULL;
	if (p->passed != b)
		return b;
	struct vbuf *instead = p->instead;
	p->passed = p->instead = NULL;
	if (refused) {
		memcpy(instead->data + ZWIRE_ENV_BYTES, b->data + ZWIRE_ENV_BYTES, len);
		*copied += len;
	}
	if (p->done)
		vpool_put(atomic_load_explicit(&b->pool, memory_order_relaxed), b);
	p->done = false;
	return instead;
}

/* Send half: the payload is about to be copied into `mine` and sent. Returns the buffer to send instead, if the payload
 * lies in one already behind room for its envelope; or mine. */
static inline struct vbuf *vpass_take(struct vpass *p, struct vbuf *mine, const void *payload)
{
	struct vbuf *theirs = p->shown;
	uint32_t send_key, receive_key;
	if (!theirs || payload != theirs->data + ZWIRE_ENV_BYTES)
		return mine;
	struct vpool *from = atomic_load_explicit(&theirs->pool, memory_order_relaxed);
	struct vpool *to = atomic_load_explicit(&mine->pool, memory_order_relaxed);
	if (!vmemory_key(theirs, to->place, &send_key) || !vmemory_key(mine, from->place, &receive_key))
		return mine;
	theirs->lkey = send_key;
	mine->lkey = receive_key;
	atomic_store_explicit(&theirs->pool, to, memory_order_relaxed);
	atomic_store_explicit(&mine->pool, from, memory_order_relaxed);
	p->shown = NULL; /* once */
	p->passed = theirs;
	p->instead = mine;
	return theirs;
}

/* A send with this buffer is complete. */
static inline void vpass_put(struct vpass *p, struct vpool *pool, struct vbuf *b)
{
	if (b == p->passed)
		p->done = true;
	else
		vpool_put(pool, b);
}

#endif
