/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shm transport: messages through rings in memory that two processes of one host share (shm_ring.h).
 *
 * Two Unix sockets belong to a link, one for each ring. They carry no messages. A byte on a socket wakes the side that
 * sleeps on its ring, and the end of a socket is the end of the peer. A byte is sent only where the other side has said
 * that it sleeps. (An eventfd for each half would need an epoll descriptor around it and the socket; measured no
 * faster.)
 *
 * In the ring: envelope, payload, and a gap up to the next multiple of SHM_RING_ALIGN; or a reference and the envelope,
 * where the payload lies in a slot (shm_slots.h, shm_pass.h). Whole messages are published at once, so a peer that dies
 * leaves no half messages. A death without close is -ECONNRESET.
 */
#define _GNU_SOURCE
#include "common/transport/base/transport.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/copy.h"
#include "common/transport/base/socket.h"
#include "common/transport/shm/shm_link.h"
#include "common/transport/shm/shm_setup.h"
#include "common/transport/shm/shm_socket.h"

_Static_assert(ZWIRE_ENV_BYTES + ZWIRE_MAX_PAYLOAD <= SHM_RING_BYTES, "the largest message fits the ring");
_Static_assert(ZWIRE_ENV_BYTES % SHM_RING_ALIGN == 0, "payloads are aligned");

/* Small messages become visible together, at flush or when they have so many bytes. */
#define PUBLISH_BYTES ((uint64_t)32 << 10)
/* A reference and its envelope. */
#define REF_BYTES (SHM_RING_ALIGN + ZWIRE_ENV_BYTES)
_Static_assert(sizeof(struct shm_ref) <= SHM_RING_ALIGN, "a reference has its place");
/* The consumer gives space back at the end of a poll, or when it has so many bytes. */
#define RELEASE_BYTES (SHM_RING_BYTES / 8)
/* So many vain tries between two looks at the socket, as a look costs a system call. */
#define LOOK_EVERY 64

/* Returns 1: the link is ready; 0: the offer has not come; or why the link is broken. Either half may call it. */
static int join(struct shm_link *l)
{
	int state = atomic_load_explicit(&l->state, memory_order_acquire);
	if (state == SHM_WAITING && !atomic_flag_test_and_set_explicit(&l->joining, memory_order_acquire)) {
		state = atomic_load_explicit(&l->state, memory_order_relaxed);
		if (state == SHM_WAITING) {
			state = shm_setup_take_offer(l);
			atomic_store_explicit(&l->state, state, memory_order_release);
		}
		atomic_flag_clear_explicit(&l->joining, memory_order_release);
	}
	return state;
}

/* ---- waking ---- */

static void wake_peer(struct shm_link *l, int sock)
{
	/* A full socket holds enough bytes to wake the peer. */
	if (send(sock, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		atomic_store_explicit(&l->dead, true, memory_order_release);
}

/* Takes the bytes from the socket and looks for its end. */
static void look_at_socket(struct shm_link *l, int sock)
{
	char bytes[64];
	ssize_t n = recv(sock, bytes, sizeof(bytes), MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		atomic_store_explicit(&l->dead, true, memory_order_release);
}

static bool is_dead(struct shm_link *l)
{
	return atomic_load_explicit(&l->dead, memory_order_acquire);
}

/* ---- send half ---- */

static void publish(struct shm_link *l)
{
	if (shm_producer_publish(&l->tx.ring))
		wake_peer(l, l->tx.sock);
}

/* Work that is rarely needed. Returns 1: go on; or what post returns. */
static int attend_tx(struct shm_link *l)
{
	struct shm_tx *tx = &l->tx;
	if (tx->error)
		return tx->error;
	int rc = join(l);
	if (rc <= 0)
		return rc == 0 ? -EAGAIN : rc == -ESHUTDOWN ? -EPIPE : rc;
	if (tx->watch_new) {
		tx->watch_new = false;
		shm_setup_watch(tx->watch, EPOLL_CTL_MOD, tx->sock, EPOLLIN);
	}
	if (tx->armed) {
		tx->armed = false;
		if (shm_producer_awake(&tx->ring))
			look_at_socket(l, tx->sock);
	}
	if (is_dead(l))
		return tx->error = -EPIPE;
	return 1;
}

/* There is no room: the peer must know of all messages, and be alive. */
static int refuse(struct shm_link *l, size_t need)
{
	struct shm_tx *tx = &l->tx;
	tx->need = need;
	publish(l);
	if (++tx->refused % LOOK_EVERY == 0)
		look_at_socket(l, tx->sock);
	if (is_dead(l))
		return tx->error = -EPIPE;
	return -EAGAIN;
}

static size_t ring_bytes(size_t len)
{
	return (ZWIRE_ENV_BYTES + len + SHM_RING_ALIGN - 1) & ~(SHM_RING_ALIGN - 1);
}

/* Makes a reference to this payload: to the slot in which it lies already, or to a slot of ours into which it is copied
 * now. false: the payload must go through the ring. Only the connecting side has slots, as messages of the accepting
 * side are forwarded ones, or small. */
static bool refer(struct shm_link *l, const void *payload, size_t len, struct shm_ref *ref)
{
	struct shm_tx *tx = &l->tx;
	if (shm_pass_on(l, payload, len, ref))
		return true;
	int slot = len <= SHM_SLOT_BYTES ? shm_slots_take(&tx->slots) : -1;
	if (slot < 0)
		return false;
	zcopy(shm_slots_at(&tx->slots, (uint32_t)slot), payload, len);
	*ref = (struct shm_ref){.mark = SHM_REF_MARK, .sender = SHM_REF_MINE, .slot = (uint32_t)slot};
	return true;
}

static void committed(struct shm_link *l, size_t bytes, bool publish_now)
{
	struct shm_tx *tx = &l->tx;
	shm_producer_commit(&tx->ring, bytes);
	tx->need = 0;
	tx->refused = 0;
	if (publish_now || tx->ring.tail - tx->ring.published >= PUBLISH_BYTES)
		publish(l);
}

static int shm_post(struct zlink *base, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct shm_link *l = (struct shm_link *)base;
	struct shm_tx *tx = &l->tx;
	if (len > ZWIRE_MAX_PAYLOAD)
		return -EMSGSIZE;
	int rc = attend_tx(l);
	if (rc < 0)
		return rc;
	uint8_t *at;
	struct shm_ref ref;
	size_t bytes = len < SHM_SLOT_MIN_BYTES ? ring_bytes(len) : REF_BYTES;
	rc = shm_producer_reserve(&tx->ring, bytes, &at);
	if (rc > 0 && bytes == REF_BYTES) {
		if (refer(l, payload, len, &ref)) {
			memcpy(at, &ref, sizeof(ref));
			memcpy(at + SHM_RING_ALIGN, env, ZWIRE_ENV_BYTES);
			committed(l, REF_BYTES, true);
			return 0;
		}
		bytes = ring_bytes(len);
		rc = shm_producer_reserve(&tx->ring, bytes, &at);
	}
	if (rc < 0)
		return tx->error = rc;
	if (rc == 0)
		return refuse(l, bytes);
	memcpy(at, env, ZWIRE_ENV_BYTES);
	if (len)
		zcopy(at + ZWIRE_ENV_BYTES, payload, len);
	committed(l, bytes, false);
	return 0;
}

static int shm_flush(struct zlink *base)
{
	struct shm_link *l = (struct shm_link *)base;
	int rc = attend_tx(l);
	if (rc < 0) /* before the offer has come nothing can be held back */
		return rc == -EAGAIN ? 0 : rc;
	if (l->tx.ring.tail != l->tx.ring.published)
		publish(l);
	return 0;
}

/* ---- receive half ---- */

static void release(struct shm_link *l)
{
	if (shm_consumer_release(&l->rx.ring))
		wake_peer(l, l->rx.sock);
}

/* Shows the next message. Returns 1: taken, 0: there is none, -EAGAIN: refused, or the error that broke the link. */
static int deliver(struct shm_link *l, const struct zsink *sink)
{
	struct shm_rx *rx = &l->rx;
	const uint8_t *at;
	uint8_t raw[ZWIRE_ENV_BYTES]; /* a copy: the peer could change it after the check */
	struct zwire_env env;
	struct shm_ref ref;
	struct shm_slots *slots = NULL;
	int rc = shm_consumer_peek(&rx->ring, ZWIRE_ENV_BYTES, &at);
	if (rc <= 0)
		return rc < 0 ? rx->error = rc : 0;
	const bool by_reference = at[0] == SHM_REF_MARK;
	if (by_reference) {
		memcpy(&ref, at, sizeof(ref));
		if (shm_consumer_peek(&rx->ring, REF_BYTES, &at) <= 0)
			return rx->error = -EPROTO;
		at += SHM_RING_ALIGN;
	}
	memcpy(raw, at, sizeof(raw));
	rc = zwire_decode(&env, raw);
	if (rc < 0)
		return rx->error = rc;
	size_t bytes = REF_BYTES;
	const void *payload;
	if (by_reference) {
		slots = shm_pass_find(l, &ref, env.len);
		if (!slots)
			return rx->error = rx->error ? rx->error : -EPROTO;
		payload = shm_slots_at(slots, ref.slot);
	} else {
		bytes = ring_bytes(env.len);
		if (shm_consumer_peek(&rx->ring, bytes, &at) <= 0) /* messages are published whole */
			return rx->error = -EPROTO;
		payload = at + ZWIRE_ENV_BYTES;
	}
	void *placed = sink->place && env.len ? sink->place(sink->ctx, &env) : NULL;
	if (placed)
		payload = zcopy(placed, payload, env.len);
	if (slots)
		shm_pass_begin(l, slots, ref.slot);
	rc = sink->take(sink->ctx, &env, raw, payload);
	shm_pass_end();
	if (rc == -EAGAIN && !placed)
		return rc;
	if (rc < 0)
		return rx->error = rc == -EAGAIN ? -EINVAL : rc;
	if (slots)
		shm_slots_drop(slots, ref.slot);
	shm_consumer_pop(&rx->ring, bytes);
	if (rx->ring.head - rx->ring.released >= RELEASE_BYTES)
		release(l);
	return 1;
}

/* The peer has ended: no more messages will come than are in the ring now. */
static int end_of_peer(struct shm_link *l)
{
	struct shm_rx *rx = &l->rx;
	const uint8_t *at;
	int rc = shm_consumer_peek(&rx->ring, ZWIRE_ENV_BYTES, &at);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = shm_consumer_closed(&rx->ring) ? -ESHUTDOWN : -ECONNRESET;
	return rx->error = rc;
}

static int shm_poll(struct zlink *base, const struct zsink *sink, unsigned budget)
{
	struct shm_link *l = (struct shm_link *)base;
	struct shm_rx *rx = &l->rx;
	if (rx->error)
		return rx->error;
	int rc = join(l);
	if (rc <= 0)
		return rc < 0 ? rx->error = rc : 0;
	bool slept = rx->armed, woken = false;
	if (slept) {
		rx->armed = false;
		woken = shm_consumer_awake(&rx->ring);
	}
	unsigned n = 0;
	rc = 0;
	while (n < budget && (rc = deliver(l, sink)) > 0)
		n++;
	if (rx->ring.head != rx->ring.released)
		release(l);
	/* Woken without a message: by the peer's end, or by a byte that was late. */
	bool vain = n == 0 && rc == 0 && budget > 0;
	if (woken || (vain && (slept || ++rx->vain % LOOK_EVERY == 0)))
		shm_pass_look(l);
	if (n == 0 && rc < 0)
		return rc;
	if (!vain) {
		rx->vain = 0;
		return (int)n;
	}
	return is_dead(l) ? end_of_peer(l) : 0;
}

/* ---- sleeping ---- */

static int shm_fd(const struct zlink *base, enum zlink_half half, uint32_t *events)
{
	const struct shm_link *l = (const struct shm_link *)base;
	*events = EPOLLIN;
	if (half == ZLINK_RX)
		return l->rx.sock;
	return l->tx.watch >= 0 ? l->tx.watch : l->tx.sock;
}

static int arm_rx(struct shm_link *l)
{
	struct shm_rx *rx = &l->rx;
	int rc = join(l);
	if (rx->error || rc < 0 || is_dead(l))
		return 1;
	if (rc == 0)
		return 0;
	if (rx->rma.outstanding)
		return 1;
	rx->armed = true;
	return !shm_consumer_sleep(&rx->ring);
}

static int arm_tx(struct shm_link *l)
{
	struct shm_tx *tx = &l->tx;
	int rc = attend_tx(l);
	if (rc < 0)
		return rc != -EAGAIN;
	if (tx->ring.tail != tx->ring.published)
		publish(l);
	if (tx->need == 0 || tx->rma.outstanding)
		return 1;
	tx->armed = true;
	return !shm_producer_sleep(&tx->ring, tx->need);
}

static int shm_arm(struct zlink *base, enum zlink_half half)
{
	struct shm_link *l = (struct shm_link *)base;
	return half == ZLINK_RX ? arm_rx(l) : arm_tx(l);
}

/* ---- the table ---- */

static int shm_listen(struct zlistener **out, const struct zaddr *addr, struct zerr *err)
{
	int rc = shm_setup_listen(out, addr, err);
	if (rc == 0)
		(*out)->ops = &ztransport_shm;
	return rc;
}

static int shm_connect(struct zlink **out, const struct zaddr *addr, int timeout_ms, struct zerr *err)
{
	int rc = shm_setup_connect(out, addr, timeout_ms, err);
	if (rc == 0)
		(*out)->ops = &ztransport_shm;
	return rc;
}

static int shm_accept(struct zlistener *listener, struct zlink **out, struct zerr *err)
{
	int rc = shm_setup_accept(listener, out, err);
	if (rc == 0)
		(*out)->ops = &ztransport_shm;
	return rc;
}

const struct ztransport ztransport_shm = {
	.name = "shm",
	.kind = ZADDR_SHM,
	.rma = &shm_rma_ops,
	.listen = shm_listen,
	.connect = shm_connect,
	.accept = shm_accept,
	.listener_fd = shm_setup_listener_fd,
	.listener_addr = shm_setup_listener_addr,
	.unlisten = shm_setup_unlisten,
	.close = shm_setup_close,
	.post = shm_post,
	.flush = shm_flush,
	.poll = shm_poll,
	.fd = shm_fd,
	.arm = shm_arm,
	.max_payload = ZWIRE_MAX_PAYLOAD,
	.fragment_bytes = SHM_SLOT_BYTES, /* in a slot, never through a ring */
	.inline_payload = SHM_RING_ALIGN, /* one cache line more */
};
