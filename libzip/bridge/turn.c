/* SPDX-License-Identifier: BSD-3-Clause */
/* The turns of sending and receiving, see turn.h. */
#include "libzip/bridge/turn.h"

#include <errno.h>

#include "libzip/bridge/direct.h"
#include "libzip/bridge/dispatch.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/fetch.h"
#include "libzip/stream/loss.h"
#include "libzip/stream/op.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/tied.h"
#include "libzip/stream/transfer_recv.h"
#include "libzip/stream/transfer_send.h"
#include "libzip/stream/way.h"
#include "libzip/world/world.h"

#define RECV_BUDGET 64	/* messages from one link before the other links have their turn */
#define DATA_BUDGET 16	/* fragments to one link before anything else has its turn */
#define SHARED_BUDGET 2 /* fragments, where another process shares the core: zipperd, perhaps */

__thread bool zturn_shares __attribute__((tls_model("initial-exec")));
__thread bool zturn_posted __attribute__((tls_model("initial-exec")));

static _Noreturn void direct_link_broken(const struct zchannel *ch, int rc)
{
	struct zerr err;

	zerr_set(&err, rc, "direct link to rank %u of part %s at %s: %s", ch->peer, zworld.part_name[ch->part],
		ch->link->peer, zchannel_describe_end(ch, rc));
	zloss_end(err.text, true);
}

/* Nothing more comes over this link. */
static void receiving_ended(struct zchannel *ch, int rc)
{
	if (ch->peer == ZWIRE_NOBODY)
		zchannel_lose_zipper(ch, rc);
	else if (ch->waiting)
		zdirect_fail(ch);
	else if (zremote_find(ch->station, ch->peer)->stream.gone)
		zchannel_close_link(ch);
	else
		direct_link_broken(ch, rc);
}

static bool send_ready(struct zchannel *ch)
{
	struct zremote *r = ch->ready_head;

	ch->ready_head = ch->ready_tail = NULL;
	if (!r)
		return false;
	while (r) {
		struct zremote *next = r->ready_next;
		r->ready = false;
		if (ch->full)
			zway_make_ready(r);
		else
			zoutgoing_pump(r);
		r = next;
	}
	return !ch->full;
}

static int fragments_now(void)
{
	zturn_posted = true;
	return zturn_shares ? SHARED_BUDGET : DATA_BUDGET;
}

/* One transfer at a time: fragments of several in turns would visit more memory than the cache holds (eight messages of
 * 1 MiB: half the bandwidth). The next turn is for the next transfer. */
static bool send_data(struct zchannel *ch)
{
	struct zop *op = zoplist_pop(&ch->data);
	bool did = false;

	if (!op)
		return false;
	const int budget = fragments_now();
	for (int i = 0; i < budget && ztied_sendable(op) > 0 && ztransfer_send_post_data(op) == 0; i++)
		did = true;
	if (ztied_sendable(op) > 0)
		zoplist_push(&ch->data, op);
	return did;
}

bool zturn_send(struct zstation *s)
{
	bool did = false;

	if (s->channels.nopen == 0)
		return false;
	for (int i = 0; i < s->channels.nopen; i++) {
		struct zchannel *ch = s->channels.open[i];
		ch->full = ch->waiting || ch->broken;
		if (ch->full)
			continue;
		if (ch->control_head)
			did |= zpost_kept(ch);
		if (ch->ready_head)
			did |= send_ready(ch);
		if (ch->data.head)
			did |= send_data(ch);
		zpost_flush(ch);
	}
	return did;
}

static int fetch(struct zchannel *ch)
{
	struct zoplist came = {NULL, NULL};
	int rc = zfetch_turn(ch, &came);

	for (struct zop *op; (op = zoplist_pop(&came));)
		ztransfer_recv_fetched(op);
	return rc;
}

bool zturn_recv(struct zstation *s)
{
	bool did = false;

	/* From the last to the first: a channel that is polled may go, and new ones come behind it. */
	for (int i = s->channels.nopen; i-- > 0;) {
		if (i >= s->channels.nopen)
			continue; /* several channels have gone, and the rest has been polled */
		struct zchannel *ch = s->channels.open[i];
		struct zsink sink = {.place = zdispatch_place, .take = zdispatch_take, .ctx = ch};
		int rc = ch->link->ops->poll(ch->link, &sink, RECV_BUDGET);
		if (rc > 0) {
			did = true;
			if (__builtin_expect(ch->waiting, 0) && ch->link)
				zchannel_set_up(ch); /* the first message says that we are welcome */
		}
		if (__builtin_expect(ch->fetching.head != NULL, 0) && (rc >= 0 || rc == -EAGAIN)) {
			rc = fetch(ch);
			did |= rc > 0;
		}
		if (rc < 0 && rc != -EAGAIN) {
			receiving_ended(ch, rc);
			zfetch_drop(ch);
		}
	}
	return did;
}
