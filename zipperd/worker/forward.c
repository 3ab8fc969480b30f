/* SPDX-License-Identifier: BSD-3-Clause */
/* From a source to a destination, see forward.h. */
#include "zipperd/worker/forward.h"

#include <errno.h>
#include <string.h>

#include "common/base/clock.h"
#include "zipperd/lane/room.h"
#include "zipperd/lane/rules.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/offer.h"
#include "zipperd/worker/multicast.h"

/* An RTS with a key: it goes on without the key. */
static int take_offer(struct source *s, struct dest *d, const struct zwire_env *env, const uint8_t *key)
{
	struct zwire_env plain = *env;
	plain.len = 0;
	if (!offer_take(s, d, env, key))
		plain.flags &= (uint16_t)~ZWIRE_F_ONE_SIDED;
	return dest_send(s->lane->worker, d, &plain);
}

/* The CTS for such an RTS. The opposite worker has the transfer. A CTS with a key goes no further. */
static int take_answer(struct source *s, struct dest *d, const struct zwire_env *env,
	const uint8_t raw[ZWIRE_ENV_BYTES], const uint8_t *key)
{
	struct worker *w = s->lane->worker;
	struct note note = {.what = env->len ? NOTE_ACCEPT : NOTE_WITHDRAW,
		.job = s->lane->job,
		.src = env->src,
		.dst = env->dst,
		.ack = env->ack,
		.xfer = env->xfer,
		.receiver_xfer = env->comm,
		.total = env->offset};
	if (env->len)
		memcpy(note.key, key, sizeof(note.key));
	if (!ports_note(w, &note))
		return -EAGAIN;
	return env->len ? 0 : dest_deliver(w, d, raw, NULL, 0, NULL);
}

/* Where memory is scarce circuits leave it to jobs, whose senders others may wait behind. Or the user's share is used
 * up.
 */
static bool is_scarce(const struct lane *l, uint64_t bytes)
{
	const struct budget *b = l->worker->pool.budget;
	return atomic_load_explicit(&b->used, memory_order_relaxed) > b->limit / 2 || !share_allows(&l->memory, bytes);
}

/* A circuit's message. A destination's share may wait here for the link. Beyond that the source waits. */
static int pass(struct source *s, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct lane *l = s->lane;
	struct dest *d = &l->dest[0];
	if (!d->tx)
		return 0; /* the other end is gone, and the circuit goes */
	/* The window of a stream bounds what waits. Its source does not hold up the other streams. */
	if ((!l->stream && (d->queued_bytes >= l->limits.dest_share ||
				   (d->head && is_scarce(l, ZWIRE_ENV_BYTES + (uint64_t)env->len)))) ||
		dest_deliver(l->worker, d, raw, payload, env->len, NULL) != 0) {
		s->no_room = true;
		return -EAGAIN;
	}
	lane_add(&l->stats.envelopes, 1);
	lane_add(&l->stats.msgs, env->len > 0);
	lane_add(&l->stats.bytes, env->len);
	return 0;
}

static inline __attribute__((always_inline)) int take(struct source *s, const struct zwire_env *env,
	const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct lane *l = s->lane;
	struct worker *w = l->worker;
	if (__builtin_expect(l->circuit, 0))
		return pass(s, env, raw, payload);
	if (env->kind == ZWIRE_BYE) {
		if (env->len > 0)
			return rules_breach(s, "a BYE with a payload");
		ports_emit(w, &(struct event){.kind = EVENT_BYE, .channel = s->channel});
		return 0;
	}
	const char *what = rules_check(s, env);
	if (what)
		return rules_breach(s, what);
	if (env->dst == ZWIRE_NOBODY)
		return multicast_take(s, env, payload);
	struct dest *d = lane_dest(l, l->place[env->dst].dest);
	int rc = room_check(w, d, env);
	if (rc == ROOM_REFUSED)
		return 0;
	if (rc == ROOM_THERE && !(env->flags & ZWIRE_F_ONE_SIDED))
		rc = dest_deliver(w, d, raw, payload, env->len, NULL);
	else if (rc == ROOM_THERE)
		rc = rules_is_sequenced(env->kind) ? take_offer(s, d, env, payload)
						   : take_answer(s, d, env, raw, payload);
	if (rc != 0) {
		s->no_room = true;
		return -EAGAIN;
	}
	lane_count(l, env);
	return 0;
}

/* The same with a message that is timed, if it goes on. */
static __attribute__((noinline, cold)) int take_timed(struct source *s, const struct zwire_env *env,
	const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct lane *l = s->lane;
	const uint64_t before = atomic_load_explicit(&l->stats.envelopes, memory_order_relaxed);
	const int64_t begun_ns = zclock_ns();
	int rc = take(s, env, raw, payload);
	if (rc != 0 || atomic_load_explicit(&l->stats.envelopes, memory_order_relaxed) == before)
		return rc;
	l->worker->samples.skipped = 0;
	if (l->circuit)
		sample_begin(l->worker, &l->dest[0], begun_ns);
	else if (env->dst != ZWIRE_NOBODY)
		sample_begin(l->worker, lane_dest(l, l->place[env->dst].dest), begun_ns);
	return 0;
}

int forward_take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct source *s = ctx;
	if (__builtin_expect(++s->lane->worker->samples.skipped >= SAMPLE_EVERY, 0))
		return take_timed(s, env, raw, payload);
	return take(s, env, raw, payload);
}
