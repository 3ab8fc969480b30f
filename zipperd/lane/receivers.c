/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of receivers, see receivers.h. */
#include "zipperd/lane/receivers.h"

#include <errno.h>
#include <string.h>

#include "zipperd/lane/body.h"
#include "zipperd/lane/worker.h"

static const char *check_head(const struct zwire_env *env)
{
	if (env->flags || env->seq || env->ack || env->xfer)
		return "a list of receivers with more than that";
	if (env->len == 0 || env->len % ZWIRE_RECEIVER_BYTES != 0 ||
		env->len > ZWIRE_RECEIVERS_MAX * ZWIRE_RECEIVER_BYTES)
		return "a list of receivers of a wrong length";
	return NULL;
}

static const char *check_list(const struct source *s)
{
	const struct lane *l = s->lane;
	for (uint32_t i = 0; i < receivers_count(s); i++) {
		struct zwire_receiver r;
		if (zwire_get_receiver(&r, receivers_at(s, i)) != 0)
			return "a receiver that is not well formed";
		if (r.dst >= l->nstations || l->place[r.dst].part == l->from ||
			!(l->carried >> l->place[r.dst].part & 1))
			return "a list with a receiver that no channel leads to";
	}
	return NULL;
}

int receivers_take(struct source *s, const struct zwire_env *env, const void *payload)
{
	struct worker *w = s->lane->worker;
	const char *what = check_head(env);
	if (what)
		return rules_breach(s, what);
	/* One size for all lists: the buffer stays with the source. */
	if (!s->receivers)
		s->receivers = pool_get(&w->pool, ZWIRE_RECEIVERS_MAX * ZWIRE_RECEIVER_BYTES);
	if (!s->receivers) {
		s->no_room = true;
		return -EAGAIN;
	}
	/* The copy is checked, because the sender can still write to the memory that it showed. */
	memcpy(s->receivers->payload, payload, env->len);
	s->receivers->len = env->len;
	what = check_list(s);
	if (what)
		return rules_breach(s, what);
	lane_add(&s->lane->stats.envelopes, 1);
	return 0;
}

void receivers_release(struct worker *w, struct source *s)
{
	body_put(w, s->body);
	s->body = NULL;
	s->next_receiver = 0;
}

void receivers_source_gone(struct worker *w, struct source *s)
{
	receivers_release(w, s);
	if (s->receivers)
		pool_put(&w->pool, s->receivers);
	s->receivers = NULL;
}
