/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The send half. Small messages go by value (inline). Larger messages go from registered buffers, into which they are
 * copied, as the caller may have its memory back; a message that lies in such a buffer already is not copied (vpass.h).
 * Both are collected in a list. The list goes to the device when it is full, at flush, and before the half waits for
 * something. A message for which credits or buffers lack is taken if its beginning can go; until the rest has gone, no
 * other message is taken.
 */
#include "common/transport/verbs/link/vtx.h"

#include <errno.h>
#include <string.h>

#include "common/transport/verbs/device/vpass.h"
#include "common/transport/verbs/link/vholders.h"
#include "common/transport/verbs/link/vswitch.h"
#include "common/transport/verbs/link/vtx_queue.h"
#include "common/transport/verbs/link/vtx_sleep.h"

/* The result for a caller where nothing can be sent. */
static int tell_error(const struct vtx *tx)
{
	return tx->error ? tx->error : -EAGAIN;
}

/* Chooses whether a send reports its completion: one in so many does, and of sends with a buffer so many that the
 * buffers of a link are never all silent. */
static void choose_signal(struct vtx *tx, struct ibv_send_wr *wr, bool buffer)
{
	tx->run++;
	tx->run_held += buffer;
	if (tx->run < tx->signal && tx->run_held < VPOOL_OWN)
		return;
	wr->send_flags |= IBV_SEND_SIGNALED;
	tx->run = tx->run_held = 0;
}

/* Takes a buffer, which the link may have. */
static struct vbuf *take_buffer(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	tx->pool->shared -= tx->held >= VPOOL_OWN;
	if (++tx->held > VPOOL_OWN && !tx->holds)
		vholders_add(l);
	return vpool_get(tx->pool);
}

/* Copies len bytes of the message that env and payload make up, from byte `at` on. */
static void copy_part(struct vtx *tx, uint8_t *to, const uint8_t *env, const uint8_t *payload, size_t at, size_t len)
{
	if (at == 0 && len >= ZWIRE_ENV_BYTES) { /* the usual case, with a length that the compiler knows */
		memcpy(to, env, ZWIRE_ENV_BYTES);
		to += ZWIRE_ENV_BYTES;
		at = ZWIRE_ENV_BYTES;
		len -= ZWIRE_ENV_BYTES;
	} else if (at < ZWIRE_ENV_BYTES) {
		size_t n = ZWIRE_ENV_BYTES - at < len ? ZWIRE_ENV_BYTES - at : len;
		memcpy(to, env + at, n);
		to += n;
		at += n;
		len -= n;
	}
	if (len > 0)
		memcpy(to, payload + (at - ZWIRE_ENV_BYTES), len);
	tx->copied += len;
}

/* Is there room for one more send of this kind? Looks at the completions if there seems to be none. */
static bool has_room(struct vlink *l, bool buffer)
{
	struct vtx *tx = &l->tx;
	for (int tries = 0; tries < 2; tries++) {
		bool credit = tx->limit != tx->sent && vtx_queue_has_slot(tx);
		tx->want_buffer = buffer && credit && !vtx_queue_may_have_buffer(tx);
		if (tx->want_buffer && tries > 0 &&
			!tx->failing) /* other links may have buffers that they do not need any more */
			tx->want_buffer = !vholders_reap(l);
		if (credit && !tx->want_buffer)
			return true;
		if (tries > 0 || vtx_queue_ring(l) != 0 || vtx_queue_reap(l) != 0)
			break;
	}
	return false;
}

/* Adds one send. false: there is no room. */
static bool send_part(struct vlink *l, const uint8_t *env, const uint8_t *payload, size_t at, size_t len)
{
	struct vtx *tx = &l->tx;
	bool by_value = len <= tx->inline_bytes;
	struct ibv_sge *sge;
	if (!has_room(l, !by_value))
		return false;
	struct vbuf *own = by_value ? NULL : take_buffer(l), *b = own;
	struct ibv_send_wr *wr = vtx_queue_next(l, &sge);
	if (own && at == 0)
		b = vpass_take(tx->pass, own, payload);
	uint8_t *to = b ? b->data : tx->copy[wr - tx->wr];
	if (b == own)
		copy_part(tx, to, env, payload, at, len);
	else
		memcpy(to, env, ZWIRE_ENV_BYTES);
	*sge = (struct ibv_sge){.addr = (uintptr_t)to, .length = (uint32_t)len, .lkey = b ? b->lkey : 0};
	wr->opcode = IBV_WR_SEND;
	wr->send_flags = b ? 0 : IBV_SEND_INLINE;
	tx->slot[(tx->tail - 1) & tx->slot_mask] = b;
	choose_signal(tx, wr, b != NULL);
	tx->sent++;
	return true;
}

/* Sends the rest of a message. Returns 0: nothing is left; -EAGAIN; or why the half is broken. */
static int send_rest(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	while (tx->rest_at < tx->rest_len) {
		size_t left = tx->rest_len - tx->rest_at, len = left < tx->send_bytes ? left : tx->send_bytes;
		if (!send_part(l, NULL, tx->rest + tx->rest_at, ZWIRE_ENV_BYTES, len))
			return tell_error(tx);
		tx->rest_at += len;
	}
	return tx->error;
}

/* Keeps the rest, as the caller wants its memory back. */
static int keep_rest(struct vtx *tx, const uint8_t *env, const uint8_t *payload, size_t at, size_t total)
{
	copy_part(tx, tx->rest, env, payload, at, total - at);
	tx->rest_at = 0;
	tx->rest_len = total - at;
	return 0;
}

static int refuse(struct vlink *l)
{
	struct vtx *tx = &l->tx;
	if (tx->error)
		return tx->error;
	vtx_queue_ring(l);
	tx->waits = true;
	if (++tx->refused % VLOOK_EVERY == 0 && vlink_hung_up(l))
		tx->error = tx->failing = vlink_lost(l) ? vlink_lost(l) : -EPIPE;
	return tell_error(tx);
}

int vtx_post(struct zlink *base, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct vlink *l = (struct vlink *)base;
	struct vtx *tx = &l->tx;
	size_t total = ZWIRE_ENV_BYTES + len, at = 0;
	if (len > ZWIRE_MAX_PAYLOAD)
		return -EMSGSIZE;
	if (tx->mode != VMODE_QUEUE) {
		int rc = vswitch_change_over(l);
		if (rc != 0)
			return rc > 0 ? l->stream->ops->post(l->stream, env, payload, len) : rc;
	}
	if (tx->failing && vtx_queue_reap(l) != 0)
		return tell_error(tx);
	if (tx->rest_at < tx->rest_len && send_rest(l) != 0)
		return refuse(l);
	while (at < total) {
		size_t part = total - at < tx->send_bytes ? total - at : tx->send_bytes;
		if (!send_part(l, env, payload, at, part))
			break;
		at += part;
	}
	if (at == 0 || tx->error)
		return refuse(l);
	tx->refused = 0;
	return at < total ? keep_rest(tx, env, payload, at, total) : 0;
}

int vtx_flush(struct zlink *base)
{
	struct vlink *l = (struct vlink *)base;
	struct vtx *tx = &l->tx;
	int rc = 0;
	if (tx->mode != VMODE_QUEUE) {
		rc = vswitch_change_over(l);
		if (rc != 0)
			return rc > 0 ? l->stream->ops->flush(l->stream) : rc;
	}
	if (tx->failing && vtx_queue_reap(l) != 0)
		return tell_error(tx);
	if (tx->rest_at < tx->rest_len) {
		rc = send_rest(l);
		tx->refused = rc == 0 ? 0 : tx->refused; /* the refusal was for lack of room for this rest */
	}
	vtx_queue_ring(l);
	if (tx->armed && rc == 0 && !(tx->refused && tx->waits) && !tx->writes) {
		tx->refused = 0; /* the caller does not wait for a refused message any more; otherwise the half would be
				    armed again */
		vtx_sleep_expect_errors(l);
	}
	if (rc == -EAGAIN)
		return refuse(l);
	return tx->failing ? tell_error(tx) : 0; /* also where a loss has only become known now */
}
