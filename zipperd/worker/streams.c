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

/* A peer that keeps to the window has no more under way. */
#define HELD_MAX_BYTES (2 * (uint64_t)ZWIRE_STREAM_WINDOW + ZWIRE_MAX_PAYLOAD)

/* The whole trunk waits. */
static int stall(struct source *trunk)
{
	trunk->no_room = true;
	return -EAGAIN;
}

/* The other end of the stream says who it is: the control thread answers. 0 or -EAGAIN. */
static int talk(struct worker *w, const struct stream_in *in, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload,
	uint32_t len)
{
	struct parcel *p = stream_parcel(raw, payload, len);
	if (!p)
		return -EAGAIN;
	ports_emit(w,
		&(struct event){.kind = EVENT_STREAM, .channel = in->trunk->channel, .dest = in->id, .parcel = p});
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
static int hand_on(struct worker *w, const struct stream_in *in, const struct zwire_env *env,
	const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	if (in->state == STREAM_RUNS)
		return run(in, env, raw, payload);
	if (in->state == STREAM_ENDED)
		return 0;
	/* The first messages of a channel wait for its source. */
	return env->kind == ZWIRE_CTRL || env->kind == ZWIRE_BYE ? talk(w, in, raw, payload, env->len) : -EAGAIN;
}

/* Its other end says nothing more. A stream without a source stays until the control thread knows. */
static void close_stream(struct worker *w, struct stream_in *in)
{
	in->closed = true;
	if (in->state == STREAM_TALKS)
		ports_emit(w, &(struct event){.kind = EVENT_STREAM, .channel = in->trunk->channel, .dest = in->id});
	else if (in->state == STREAM_ENDED)
		stream_end(w, in);
	else if (!in->head)
		half_lose_source(w, in->source, -ESHUTDOWN); /* ends it */
}

static void count(struct worker *w, struct stream_in *in, uint32_t len)
{
	in->taken += ZWIRE_ENV_BYTES + (uint64_t)len;
	stream_return(w, in);
}

int streams_take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct source *s = ctx;
	struct worker *w = s->lane->worker;
	struct trunk_rx *t = s->trunk;
	struct stream_in *in = stream_find(t, env->job);
	if (!in) {
		if (env->kind == ZWIRE_CREDIT || env->kind == ZWIRE_CLOSE)
			return 0; /* of a stream that has ended */
		if (HASH_COUNT(t->streams) >= STREAMS_MAX)
			return rules_breach(s, "too many streams in one trunk");
		/* Where we begin the streams: the answer was faster than the command for the source. */
		if (!t->accepts || !(in = stream_begin(t, env->job)))
			return stall(s);
	}
	if (env->kind == ZWIRE_CREDIT) {
		stream_granted(w, in, env->offset);
		return 0;
	}
	if (env->kind == ZWIRE_CLOSE) {
		close_stream(w, in);
		return 0;
	}
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
	if (in->held > HELD_MAX_BYTES)
		return rules_breach(s, "more of a stream than its window");
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
	if (in && in->state != STREAM_ENDED)
		stream_hold(in, p->env, p->payload, p->len);
	free(p);
}
