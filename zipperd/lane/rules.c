/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules for messages of ranks, see rules.h. */
#include "zipperd/lane/rules.h"

#include <errno.h>

#include "zipperd/lane/half.h"
#include "zipperd/lane/lane.h"

int rules_breach(struct source *s, const char *what)
{
	s->breach = what;
	return -EPROTO;
}

const char *rules_check_kind(const struct lane *l, const struct zwire_env *env)
{
	static const char flag_text[] = "a flag where it does not belong";
	bool one_sided = env->flags & ZWIRE_F_ONE_SIDED;
	switch (env->kind) {
	case ZWIRE_EAGER:
		if (env->len > l->limits.eager_bytes)
			return "an eager message above eager_bytes";
		if (one_sided)
			return flag_text;
		return env->seq == 0 ? "an eager message without a sequence number" : NULL;
	case ZWIRE_RTS:
		if (env->len != (one_sided ? ZRMA_KEY_BYTES : 0))
			return "a request to send with a payload that is no key";
		return env->seq == 0 ? "a request to send without a sequence number" : NULL;
	case ZWIRE_DATA:
		if (one_sided)
			return flag_text;
		return env->len > l->limits.frag_bytes ? "a fragment above frag_bytes" : NULL;
	case ZWIRE_CTS:
		if (one_sided && env->len == ZRMA_KEY_BYTES)
			return NULL;
		return env->len > 0 ? "a payload where none belongs" : NULL;
	case ZWIRE_ACK:
	case ZWIRE_RAILS:
	case ZWIRE_ASK:
		if (one_sided)
			return flag_text;
		return env->len > 0 ? "a payload where none belongs" : NULL;
	case ZWIRE_DONE:
		return env->len > 0 ? "a payload where none belongs" : NULL;
	case ZWIRE_MOVED:
		if (env->flags == ZWIRE_F_RESTART)
			return env->len > 0 ? "a payload where none belongs" : NULL;
		return "word of a transfer that is zipperd's to give";
	default:
		return "a kind of message that ranks do not send";
	}
}

const char *rules_check(const struct source *s, const struct zwire_env *env)
{
	const struct lane *l = s->lane;
	if (env->src != s->station)
		return "a message in another's name";
	if (env->job != 0)
		return "a message with a job number";
	if (env->dst == ZWIRE_NOBODY)
		return NULL; /* multicast.c looks at the receivers */
	if (env->dst >= l->nstations || l->place[env->dst].part != l->to)
		return "a message to a rank that this channel does not lead to";
	return rules_check_kind(l, env);
}
