/* SPDX-License-Identifier: BSD-3-Clause */
/* The carrier of a rank's multicasts, and the list of receivers that it has: see multicast.h. */
#include "libzip/bridge/channel.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/multicast_parts.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

static const void *listed; /* whose receivers the carrier's list has now: a multicast or an operation; NULL: nobody's */

struct zchannel *zmulticast_carrier(void)
{
	const int rail = zrails_of_carrier();

	return zchannel_open(rail, zrails_first_part(rail));
}

bool zmulticast_reaches(const struct zremote *r)
{
	return zremote_is_bridged(r) && zrails_carries(zrails_of_carrier(), r->channel->part);
}

struct zwire_receiver zmulticast_receiver(const struct zremote *r, uint64_t seq, uint64_t xfer)
{
	return (struct zwire_receiver){.dst = r->vrank, .seq = seq, .ack = zpeer_ack_value(&r->stream), .xfer = xfer};
}

/* The list from now on. 0 or -EAGAIN. */
int zmulticast_post_list(const struct zwire_receiver *list, int n, const void *whose)
{
	uint8_t bytes[ZWIRE_RECEIVERS_MAX * ZWIRE_RECEIVER_BYTES];
	struct zwire_env env = {.kind = ZWIRE_RECEIVERS,
		.dst = ZWIRE_NOBODY,
		.len = (uint32_t)n * ZWIRE_RECEIVER_BYTES};
	for (int i = 0; i < n; i++) {
		/* zipperd hands it to the part's own channel, and the receiver's own messages may take another rail. */
		zchannel_open(zrails_of_carrier(), (int)zworld.place[list[i].dst].part);
		zwire_put_receiver(bytes + i * ZWIRE_RECEIVER_BYTES, &list[i]);
	}
	int rc = zchannel_post_raw(zmulticast_carrier(), &env, bytes);
	if (rc == 0)
		listed = whose;
	return rc;
}

/* To those of the list. 0 or -EAGAIN. */
int zmulticast_post_message(struct zwire_env *env, uint64_t xfer, const void *payload)
{
	env->dst = ZWIRE_NOBODY;
	env->seq = env->ack = 0;
	env->xfer = xfer;
	return zchannel_post_raw(zmulticast_carrier(), env, payload);
}

int zmulticast_post_one(struct zremote *r, struct zwire_env *env, const void *payload)
{
	struct zwire_receiver one = zmulticast_receiver(r, env->seq, env->xfer);
	struct zwire_env copy = *env;
	int rc = zmulticast_post_list(&one, 1, NULL);
	if (rc == 0)
		rc = zmulticast_post_message(&copy, 0, payload);
	if (rc == 0)
		zpeer_ack_sent(&r->stream);
	return rc;
}

void zmulticast_forget_list(void)
{
	listed = NULL;
}

bool zmulticast_is_listed(const void *whose)
{
	return listed == whose;
}

void zmulticast_unlist(const void *whose)
{
	if (listed == whose)
		listed = NULL;
}
