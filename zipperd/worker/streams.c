/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of a trunk, see streams.h. */
#include "zipperd/worker/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "zipperd/lane/rules.h"
#include "zipperd/lane/stream.h"
#include "zipperd/lane/worker.h"
#include "zipperd/worker/forward.h"

/* The whole trunk waits. */
static int stall(struct source *trunk)
{
	trunk->no_room = true;
	return -EAGAIN;
}

static void tell_control(struct worker *w, struct stream_in *in, struct parcel *p)
{
	ports_emit(w, &(struct event){.kind = EVENT_STREAM,
			      .channel = in->trunk->channel,
			      .dest = in->id,
			      .first = !in->spoke,
			      .parcel = p});
	in->spoke = true;
}

/* The other end of the stream says who it is: the control thread answers. 0 or -EAGAIN. */
static int talk(struct worker *w, struct stream_in *in, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload,
	uint32_t len)
{
	struct parcel *p = stream_parcel(raw, payload, len);
	if (!p)
		return -EAGAIN;
	tell_control(w, in, p);
	return 0;
}

/* As forward_take. */
static int run(const struct stream_in *in, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES],
	const void *payload)
{
	struct source *s = in->source;
	struct zwire_env own = *env;
	uint8_t bare[ZWIRE_ENV_BYTES];
	own.job = 0;
	memcpy(bare, raw, sizeof(bare));
	stream_put_id(bare, 0);
	int rc = forward_take(s, &own, bare, payload);
	s->no_room = false;
	return rc;
}

/* A message in its turn. 0; -EAGAIN: it has to wait; others: its source is to be lost. */
static int hand_on(struct worker *w, struct stream_in *in, const struct zwire_env *env,
	const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	if (in->state == STREAM_RUNS)
		return run(in, env, raw, payload);
	if (in->state == STREAM_ENDED)
		return 0;
	if (in->state == STREAM_WAITS)
		return -EAGAIN;
	/* The first messages of a channel wait for its source. */
	return env->kind == ZWIRE_CTRL || env->kind == ZWIRE_BYE ? talk(w, in, raw, payload, env->len) : -EAGAIN;
}

/* Its other end says nothing more. A stream without a source stays until the control thread knows. */
static void close_stream(struct worker *w, struct stream_in *in)
{
	in->closed = true;
	if (in->state == STREAM_TALKS)
		tell_control(w, in, NULL);
	else if (in->state == STREAM_ENDED)
		stream_end(w, in);
	else if (in->state == STREAM_RUNS && !in->head)
		half_lose_source(w, in->source, -ESHUTDOWN); /* ends it */
}

static void count(struct worker *w, struct stream_in *in, uint32_t len)
{
	in->taken += ZWIRE_ENV_BYTES + (uint64_t)len;
	stream_return(w, in);
}

/* The other side begins no stream after this one. */
static int take_leave(struct source *s, const struct zwire_env *env)
{
	if (env->kind != ZWIRE_CLOSE || s->trunk->accepts)
		return rules_breach(s, "a message of no stream");
	ports_emit(s->lane->worker, &(struct event){.kind = EVENT_STREAM, .channel = s->channel});
	return 0;
}

/* A message whose stream is not here: of one that begins, or has ended. 0: there may be a stream now, or the message is
 * of no use. */
static int meet(struct source *s, const struct zwire_env *env)
{
	struct trunk_rx *t = s->trunk;
	const uint32_t id = env->job;
	if (id == 0)
		return take_leave(s, env);
	if (id <= t->newest) /* word of room may cross the end */
		return env->kind == ZWIRE_CREDIT ? 0
						 : rules_breach(s, "a stream with the number of one that has ended");
	if (!t->accepts) /* the answer was faster than the command, or is none */
		return id <= atomic_load(&t->begun) ? stall(s) : rules_breach(s, "a stream that nobody has begun");
	if (env->kind == ZWIRE_CREDIT)
		return rules_breach(s, "room for a stream that has not begun");
	if (id - t->newest > STREAMS_MAX - HASH_COUNT(t->streams))
		return rules_breach(s, "too many streams in one trunk");
	return stream_begin(t, id, STREAM_TALKS) == 0 ? 0 : stall(s);
}

/* Its sender may be the control thread still, though it has a source here soon. */
static int take_credit(struct source *s, struct stream_in *in, const struct zwire_env *env,
	const uint8_t raw[ZWIRE_ENV_BYTES])
{
	struct worker *w = s->lane->worker;
	if (in->state != STREAM_TALKS) {
		stream_granted(w, in, env);
		return 0;
	}
	if (!in->spoke)
		return rules_breach(s, "room for a stream that has not begun");
	return talk(w, in, raw, NULL, 0) == 0 ? 0 : stall(s);
}

int streams_take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct source *s = ctx;
	struct worker *w = s->lane->worker;
	struct trunk_rx *t = s->trunk;
	struct stream_in *in = stream_find(t, env->job);
	if (!in) {
		int rc = meet(s, env);
		if (rc != 0 || !(in = stream_find(t, env->job)))
			return rc;
	}
	if ((env->kind == ZWIRE_CREDIT || env->kind == ZWIRE_CLOSE) && env->len > 0)
		return rules_breach(s, "a payload where none belongs");
	if (env->kind == ZWIRE_CREDIT)
		return take_credit(s, in, env, raw);
	if (in->closed)
		return rules_breach(s, "a message of a stream after its end");
	if (env->kind == ZWIRE_CLOSE) {
		close_stream(w, in);
		return 0;
	}
	/* What it has under way, at the most: it may not have heard yet what it was told. */
	if (!stream_fits(in->taken + in->held - in->told, in->most, ZWIRE_ENV_BYTES + (uint64_t)env->len))
		return rules_breach(s, "more of a stream than its window");
	lane_add(&s->lane->stats.bytes, env->len);
	int rc = in->head ? -EAGAIN : hand_on(w, in, env, raw, payload);
	if (rc == 0) {
		count(w, in, env->len);
		return 0;
	}
	if (rc != -EAGAIN) {
		half_lose_source(w, in->source, rc); /* ends the stream, and no other */
		return 0;
	}
	return stream_hold(in, raw, payload, env->len) ? 0 : stall(s);
}

bool streams_turn(struct worker *w)
{
	struct list *node, *after;
	bool moved = false;
	list_for_each(node, after, &w->streams_held) {
		struct stream_in *in = list_entry(node, struct stream_in, waits);
		int rc = 0;
		while (in->head) {
			const struct parcel *p = in->head;
			const uint32_t len = p->len;
			struct zwire_env env;
			rc = zwire_decode(&env, p->env);
			if (rc == 0)
				rc = run(in, &env, p->env, p->payload);
			if (rc != 0)
				break;
			stream_unhold(in);
			count(w, in, len);
			moved = true;
		}
		if (rc == -EAGAIN)
			continue;
		list_del(&in->waits);
		if (rc != 0 || in->closed)
			half_lose_source(w, in->source, rc != 0 ? rc : -ESHUTDOWN);
	}
	return moved;
}

void streams_say(const struct source *trunk, uint32_t id, struct parcel *p)
{
	struct stream_in *in = stream_find(trunk->trunk, id);
	struct zwire_env env;
	if (in && zwire_decode(&env, p->env) == 0 && env.kind == ZWIRE_CREDIT)
		stream_granted(trunk->lane->worker, in, &env);
	else if (in && in->state != STREAM_ENDED && stream_hold(in, p->env, p->payload, p->len))
		in->taken -= ZWIRE_ENV_BYTES + (uint64_t)p->len; /* it is taken once more */
	free(p);
}
