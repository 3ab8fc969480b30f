/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to several ranks, see multicast.h. */
#include "zipperd/worker/multicast.h"

#include <errno.h>

#include "zipperd/lane/body.h"
#include "zipperd/lane/receivers.h"
#include "zipperd/lane/room.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/reader.h"

/* Gives the message to a destination of this lane. *body: as in dest_deliver. shared: it is not the first receiver. 0;
 * -EAGAIN: no memory; -ENOBUFS: it is more than the receiver granted. */
static int give_here(struct lane *l, const struct zwire_env *env, const void *payload, struct buf **body, bool shared)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	struct dest *d = lane_dest(l, l->place[env->dst].dest);
	int rc = room_check(l->worker, d, env);
	if (rc == ROOM_REFUSED)
		return 0;
	zwire_encode(raw, env);
	if (rc == ROOM_THERE)
		rc = dest_deliver(l->worker, d, raw, payload, env->len, body);
	if (rc != 0)
		return rc;
	lane_count(l, env);
	if (shared && env->len > 0)
		lane_add(&l->stats.shared_bytes, env->len);
	return 0;
}

/* Hands the message to the worker of the receiver's part. 0 or -EAGAIN. */
static int hand_over(struct source *s, const struct zwire_env *env, const void *payload, bool shared)
{
	struct worker *w = s->lane->worker;
	struct relay *r = relay_to(s->lane, s->lane->place[env->dst].part);
	if (!r)
		return -EAGAIN;
	if (env->len > 0 && !s->body) {
		s->body = body_create(w, payload, env->len);
		if (!s->body)
			return -EAGAIN;
		lane_add(&s->lane->stats.copied_bytes, env->len);
	}
	struct relayed m = {.what = RELAYED_MESSAGE,
		.body = s->body,
		.job = s->lane->job,
		.len = env->len,
		.shared = shared};
	zwire_encode(m.env, env);
	if (m.body)
		body_hold(m.body);
	if (relay_push(w, r, &m))
		return 0;
	body_put(w, m.body);
	return -EAGAIN;
}

static int give(struct source *s, const struct zwire_env *env, const void *payload, bool shared)
{
	struct lane *l = s->lane;
	const char *what = rules_check_kind(l, env);
	if (what)
		return rules_breach(s, what);
	if (l->place[env->dst].part == l->to)
		return give_here(l, env, payload, &s->body, shared);
	return hand_over(s, env, payload, shared);
}

/* An RTS with a key: all receivers are offered one fan-out. Where that cannot be they get plain RTS. */
static int take_keyed(struct source *s, const struct zwire_env *env, const uint8_t *key)
{
	uint32_t n = receivers_count(s);
	if (s->next_receiver == 0 && !s->fanout)
		s->fanout = fanout_create(s, env, key, n);
	for (; s->next_receiver < n; s->next_receiver++) {
		struct zwire_env one = receivers_next(s, env);
		const char *what = rules_check_kind(s->lane, &one);
		if (what)
			return rules_breach(s, what);
		int rc;
		if (s->fanout) {
			rc = reader_offer(s->fanout, s->next_receiver, &one);
		} else {
			one.flags &= (uint16_t)~ZWIRE_F_ONE_SIDED;
			one.len = 0;
			rc = give(s, &one, NULL, false);
		}
		if (rc == -EAGAIN)
			s->no_room = true;
		if (rc != 0)
			return rc;
	}
	if (s->fanout)
		s->fanout->begun = true;
	s->fanout = NULL;
	s->next_receiver = 0;
	return 0;
}

int multicast_take(struct source *s, const struct zwire_env *env, const void *payload)
{
	static const char changed[] =
		"a message that changed while it was waiting"; /* over shm it is decoded at each try */
	bool keyed = env->kind == ZWIRE_RTS && env->flags & ZWIRE_F_ONE_SIDED;
	if (s->fanout && !keyed) /* the fan-out has room for the receivers of its own list alone */
		return rules_breach(s, changed);
	if (env->kind == ZWIRE_RECEIVERS)
		return receivers_take(s, env, payload);
	if ((env->kind != ZWIRE_EAGER && env->kind != ZWIRE_RTS && env->kind != ZWIRE_DATA) || env->seq || env->ack ||
		(!keyed && (env->xfer || env->flags & ZWIRE_F_ONE_SIDED)))
		return rules_breach(s, "a message to nobody");
	if (!s->receivers)
		return rules_breach(s, "a message without the list of its receivers");
	if (s->body && s->body->len != env->len)
		return rules_breach(s, changed);
	if (keyed)
		return take_keyed(s, env, payload);
	for (uint32_t n = receivers_count(s); s->next_receiver < n; s->next_receiver++) {
		struct zwire_env one = receivers_next(s, env);
		int rc = give(s, &one, payload, s->next_receiver > 0);
		if (rc == -EAGAIN || rc == -ENOBUFS) {
			s->no_room = true;
			return -EAGAIN;
		}
		if (rc != 0)
			return rc;
	}
	receivers_release(s->lane->worker, s);
	return 0;
}

int multicast_take_relayed(struct worker *w, struct relayed *m)
{
	struct zwire_env env;
	struct lane *l = zwire_decode(&env, m->env) == 0 ? worker_lane(w, m->job, env.src, env.dst) : NULL;
	if (!l)
		return 0; /* the job is over */
	int rc = give_here(l, &env, m->body ? m->body->payload : NULL, &m->body, m->shared);
	if (rc != -ENOBUFS)
		return rc;
	/* Another worker has the source, so it cannot be stalled here. Others must not wait behind it. */
	if (!l->flooded)
		ports_emit(w, &(struct event){.kind = EVENT_BREACH,
				      .lane = l,
				      .station = env.src,
				      .breach = "more data than the receiver asked for"});
	l->flooded = true;
	return 0;
}
