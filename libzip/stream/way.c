/* SPDX-License-Identifier: BSD-3-Clause */
/* The way of the messages to a rank, see way.h. */
#include "libzip/stream/way.h"

#include <stddef.h>

#include "libzip/stream/channel.h"
#include "libzip/stream/remote.h"

struct zchannel *zway_of(const struct zremote *r)
{
	const struct zpeer_msg *next = r->stream.unsent;

	if (r->by_list)
		return zchannel_carrier();
	return next && next->way ? next->way : r->channel;
}

void zway_make_ready(struct zremote *r)
{
	struct zchannel *ch = zway_of(r);

	if (r->ready)
		return;
	r->ready = true;
	r->ready_next = NULL;
	if (ch->ready_head)
		ch->ready_tail->ready_next = r;
	else
		ch->ready_head = r;
	ch->ready_tail = r;
}
