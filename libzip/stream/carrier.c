/* SPDX-License-Identifier: BSD-3-Clause */
/* The carrier and its list of receivers, see carrier.h. */
#include "libzip/stream/carrier.h"

#include "libzip/stream/channel.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

static const void *listed; /* owner of the carrier's list; NULL: nobody */

bool zcarrier_reaches(const struct zremote *r)
{
	return zremote_is_bridged(r) && zrails_carries(zrails_of_carrier().rail, r->channel->part);
}

struct zwire_receiver zcarrier_receiver(const struct zremote *r, uint64_t seq, uint64_t xfer)
{
	return (struct zwire_receiver){.dst = r->vrank, .seq = seq, .ack = zpeer_ack_value(&r->stream), .xfer = xfer};
}

/* The list from now on. 0 or -EAGAIN. */
int zcarrier_post_list(const struct zwire_receiver *list, int n, const void *whose)
{
	uint8_t bytes[ZWIRE_RECEIVERS_MAX * ZWIRE_RECEIVER_BYTES];
	struct zwire_env env = {.kind = ZWIRE_RECEIVERS,
		.dst = ZWIRE_NOBODY,
		.len = (uint32_t)n * ZWIRE_RECEIVER_BYTES};
	for (int i = 0; i < n; i++) {
		/* zipperd uses the part's own channel, which the receiver's other messages may not have opened, as they
		 * may take another track. */
		zchannel_open(&zstations[0], zrails_of_carrier(), (int)zworld.place[list[i].dst].part);
		zwire_put_receiver(bytes + i * ZWIRE_RECEIVER_BYTES, &list[i]);
	}
	int rc = zpost_raw(zchannel_carrier(), &env, bytes);
	if (rc == 0)
		listed = whose;
	return rc;
}

/* To the receivers of the list. 0 or -EAGAIN. */
int zcarrier_post_message(struct zwire_env *env, uint64_t xfer, const void *payload)
{
	env->dst = ZWIRE_NOBODY;
	env->seq = env->ack = 0;
	env->xfer = xfer;
	return zpost_raw(zchannel_carrier(), env, payload);
}

int zcarrier_post_one(struct zremote *r, struct zwire_env *env, const void *payload)
{
	struct zwire_receiver one = zcarrier_receiver(r, env->seq, env->xfer);
	struct zwire_env copy = *env;
	int rc = zcarrier_post_list(&one, 1, NULL);
	if (rc == 0)
		rc = zcarrier_post_message(&copy, 0, payload);
	if (rc == 0)
		zpeer_ack_sent(&r->stream);
	return rc;
}

void zcarrier_forget(void)
{
	listed = NULL;
}

bool zcarrier_is_listed(const void *whose)
{
	return listed == whose;
}

void zcarrier_unlist(const void *whose)
{
	if (listed == whose)
		listed = NULL;
}
