/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that break the protocol, see breach.h. */
#include "libzip/stream/breach.h"

#include <errno.h>
#include <stdio.h>

#include "common/control/ctl.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/world.h"

int zbreach(const struct zremote *from, const char *what)
{
	from->station->breach.what = what;
	return -EPROTO;
}

/* zipperd refuses a data channel with a control message. False: it is none. */
static bool take_refusal(const struct zchannel *ch, const struct zwire_env *env, const void *payload, char *text)
{
	struct zctl_msg msg;

	if (env->kind != ZWIRE_CTRL || ch->peer != ZWIRE_NOBODY || zctl_decode(&msg, payload, env->len, NULL) != 0)
		return false;
	const bool is = msg.type == ZCTL_ERROR;
	if (is)
		snprintf(text, ZBREACH_BYTES, "%s", msg.u.error.text);
	zctl_free(&msg);
	return is;
}

/* The fault of the sender or the receiver of a message in words, or NULL. */
static const char *find_stray(const struct zchannel *ch, const struct zwire_env *env)
{
	const uint32_t first = ch->station->first, vrank = env->src - first;

	if (vrank >= (uint32_t)zworld.nranks)
		return "there is no such sender";
	if (env->dst != first + (uint32_t)zworld.vrank)
		return "its receiver is another rank";
	if (zworld.place[vrank].part != (uint32_t)ch->part || (ch->peer != ZWIRE_NOBODY && ch->peer != vrank))
		return "its sender is not at the other end of this channel";
	return NULL;
}

int zbreach_note(const struct zchannel *ch, const struct zwire_env *env, const void *payload)
{
	struct zstation *s = ch->station;
	const char *stray = find_stray(ch, env), *what = stray ? stray : s->breach.what;
	const uint32_t vrank = env->src - s->first;

	s->breach.what = NULL;
	s->breach.channel = ch;
	if (take_refusal(ch, env, payload, s->breach.text))
		return -EPROTO;
	int n = snprintf(s->breach.text, ZBREACH_BYTES, "bad message (%s) of ", zwire_kind_name(env->kind));
	if (vrank < (uint32_t)zworld.nranks)
		n += snprintf(s->breach.text + n, ZBREACH_BYTES - (size_t)n, "rank %u", vrank);
	else
		n += snprintf(s->breach.text + n, ZBREACH_BYTES - (size_t)n, "sender %u", env->src);
	snprintf(s->breach.text + n, ZBREACH_BYTES - (size_t)n, ": %s", what ? what : "ranks send no such message");
	return -EPROTO;
}

const char *zbreach_find(const struct zchannel *ch)
{
	return ch->station->breach.channel == ch ? ch->station->breach.text : NULL;
}
