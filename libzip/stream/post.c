/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting envelopes on a channel, see post.h. */
#include "libzip/stream/post.h"

#include <errno.h>
#include <string.h>

#include "libzip/shim/pool.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/error.h"
#include "libzip/world/world.h"

/* A post or flush failed. A peer may have left in order: then its BYE is among the messages that are still to be
 * read. */
static void sending_broken(struct zchannel *ch, int rc)
{
	if (ch->peer == ZWIRE_NOBODY)
		zchannel_lose_zipper(ch, rc);
	ch->broken = rc;
	ch->full = true;
	ch->held_back = false;
}

static void count(struct zchannel *ch, const struct zwire_env *env)
{
	ch->msgs += env->kind == ZWIRE_EAGER || env->kind == ZWIRE_RTS;
	if (env->kind == ZWIRE_EAGER || env->kind == ZWIRE_DATA)
		ch->bytes += env->len;
}

int zpost_raw(struct zchannel *ch, struct zwire_env *env, const void *payload)
{
	uint8_t raw[ZWIRE_ENV_BYTES];

	if (ch->full)
		return -EAGAIN;
	env->src = ch->station->first + (uint32_t)zworld.vrank;
	zwire_encode(raw, env);
	int rc = ch->link->ops->post(ch->link, raw, payload, env->len);
	if (rc == 0) {
		ch->held_back = true;
		count(ch, env);
	} else if (rc == -EAGAIN) {
		ch->full = true;
	} else {
		sending_broken(ch, rc);
		rc = -EAGAIN;
	}
	return rc;
}

int zpost_message(struct zremote *r, struct zchannel *ch, struct zwire_env *env, const void *payload)
{
	if (!ch)
		ch = r->channel;
	if (__builtin_expect(r->stream.gone && ch->peer != ZWIRE_NOBODY, 0))
		return 0; /* the peer has left */
	env->dst = r->station->first + r->vrank;
	env->ack = zpeer_ack_value(&r->stream);
	int rc = zpost_raw(ch, env, payload);
	/* A CTS with a key goes to zipperd: the sender hears the acknowledgement in it only at the end of the
	 * transfer. */
	if (rc == 0 && (env->kind != ZWIRE_CTS || env->len == 0 || !zpeer_ack_is_due(&r->stream)))
		zpeer_ack_sent(&r->stream);
	return rc;
}

void zpost_control(struct zremote *r, struct zchannel *ch, struct zwire_env *env, const uint8_t *key)
{
	if (!ch)
		ch = r->channel;
	if (!ch->control_head && zpost_message(r, ch, env, key) == 0)
		return;
	struct zcontrol *c = zpool_get(sizeof(*c));
	if (!c)
		zerror_fatal(1, "out of memory for a message of %zu bytes", sizeof(*c));
	*c = (struct zcontrol){.remote = r, .env = *env};
	if (env->len)
		memcpy(c->key, key, sizeof(c->key));
	if (ch->control_head)
		ch->control_tail->next = c;
	else
		ch->control_head = c;
	ch->control_tail = c;
}

bool zpost_kept(struct zchannel *ch)
{
	bool did = false;

	while (ch->control_head) {
		struct zcontrol *c = ch->control_head;
		if (zpost_message(c->remote, ch, &c->env, c->key) != 0)
			break;
		ch->control_head = c->next;
		zpool_put(c);
		did = true;
	}
	return did;
}

void zpost_flush(struct zchannel *ch)
{
	if (!ch->held_back)
		return;
	int rc = ch->link->ops->flush(ch->link);
	if (rc == 0)
		ch->held_back = false;
	else if (rc != -EAGAIN)
		sending_broken(ch, rc);
}
