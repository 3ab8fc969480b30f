/* SPDX-License-Identifier: BSD-3-Clause */
/* The data channels of this rank, see channel.h: what is posted, and the turns of sending and receiving. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "libzip/bridge/arrival.h"
#include "libzip/bridge/channel_parts.h"
#include "libzip/bridge/direct.h"
#include "libzip/world/error.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/fetch.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/outgoing.h"
#include "libzip/shim/pool.h"
#include "libzip/progress/progress.h"
#include "libzip/bridge/rendezvous.h"
#include "libzip/world/world.h"

#define RECV_BUDGET 64 /* messages from one link before the others have their turn */
#define DATA_BUDGET 16 /* fragments to one link before anything else has its turn */

static const char *describe_end(int rc)
{
	return rc == -ESHUTDOWN ? "closed" : strerror(-rc);
}

static void zipper_broken(const struct zchannel *ch, int rc)
{
	struct zerr err;

	zerr_set(&err, rc, "data channel to part %s by zipperd at %s: %s", zworld.part_name[ch->part], ch->link->peer,
		describe_end(rc));
	zfailover_lose(ch->rail, err.text);
}

static _Noreturn void direct_link_broken(const struct zchannel *ch, int rc)
{
	struct zerr err;

	zerr_set(&err, rc, "direct link to rank %u of part %s at %s: %s", ch->peer, zworld.part_name[ch->part],
		ch->link->peer, describe_end(rc));
	zprogress_lost(err.text, true);
}

/* A post or flush failed. A peer may have left in order: its BYE is then among what there is still to read. */
static void sending_broken(struct zchannel *ch, int rc)
{
	if (ch->peer == ZWIRE_NOBODY)
		zipper_broken(ch, rc);
	ch->broken = rc;
	ch->full = true;
	ch->held_back = false;
}

/* Nothing more comes over this link. */
static void receiving_ended(struct zchannel *ch, int rc)
{
	if (ch->peer == ZWIRE_NOBODY)
		zipper_broken(ch, rc);
	else if (ch->waiting)
		zdirect_fail(ch);
	else if (zremote_find(ch->peer)->stream.gone)
		zchannel_close_link(ch);
	else
		direct_link_broken(ch, rc);
}

static void count(struct zchannel *ch, const struct zwire_env *env)
{
	ch->msgs += env->kind == ZWIRE_EAGER || env->kind == ZWIRE_RTS;
	if (env->kind == ZWIRE_EAGER || env->kind == ZWIRE_DATA)
		ch->bytes += env->len;
}

int zchannel_post_raw(struct zchannel *ch, struct zwire_env *env, const void *payload)
{
	uint8_t raw[ZWIRE_ENV_BYTES];

	if (ch->full)
		return -EAGAIN;
	env->src = zworld_station_of((uint32_t)zworld.vrank);
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

int zchannel_post(struct zremote *r, struct zchannel *ch, struct zwire_env *env, const void *payload)
{
	if (!ch)
		ch = r->channel;
	if (__builtin_expect(r->stream.gone && ch->peer != ZWIRE_NOBODY, 0))
		return 0; /* it hears nothing any more */
	env->dst = zworld_station_of(r->vrank);
	env->ack = zpeer_ack_value(&r->stream);
	int rc = zchannel_post_raw(ch, env, payload);
	/* What a CTS with a key acknowledges the sender hears at the end of the transfer only. */
	if (rc == 0 && (env->kind != ZWIRE_CTS || env->len == 0 || !zpeer_ack_is_due(&r->stream)))
		zpeer_ack_sent(&r->stream);
	return rc;
}

void zchannel_post_control(struct zremote *r, struct zchannel *ch, struct zwire_env *env, const uint8_t *key)
{
	if (!ch)
		ch = r->channel;
	if (!ch->control_head && zchannel_post(r, ch, env, key) == 0)
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

void zchannel_add_ready(struct zremote *r)
{
	struct zchannel *ch = zoutgoing_way(r);

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

void zchannel_flush(struct zchannel *ch)
{
	if (!ch->held_back)
		return;
	int rc = ch->link->ops->flush(ch->link);
	if (rc == 0)
		ch->held_back = false;
	else if (rc != -EAGAIN)
		sending_broken(ch, rc);
}

static bool send_control(struct zchannel *ch)
{
	bool did = false;

	while (ch->control_head) {
		struct zcontrol *c = ch->control_head;
		if (zchannel_post(c->remote, ch, &c->env, c->key) != 0)
			break;
		ch->control_head = c->next;
		zpool_put(c);
		did = true;
	}
	return did;
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
			zchannel_add_ready(r);
		else
			zoutgoing_pump(r);
		r = next;
	}
	return !ch->full;
}

/* One transfer at a time: fragments of several in turns would visit more memory than the cache holds (eight messages of
 * 1 MiB: half the bandwidth). The next turn is another's. */
static bool send_data(struct zchannel *ch)
{
	struct zop *op = zop_list_pop(&ch->data);
	bool did = false;

	if (!op)
		return false;
	const int budget = zprogress_fragments(DATA_BUDGET);
	for (int i = 0; i < budget && zmulticast_sendable(op) > 0 && ztransfer_post_data(op) == 0; i++)
		did = true;
	if (zmulticast_sendable(op) > 0)
		zop_list_push(&ch->data, op);
	return did;
}

bool zchannel_send_turn(void)
{
	bool did = false;

	if (zchannels.nopen == 0)
		return false;
	for (int i = 0; i < zchannels.nopen; i++) {
		struct zchannel *ch = zchannels.open[i];
		ch->full = ch->waiting || ch->broken;
		if (ch->full)
			continue;
		if (ch->control_head)
			did |= send_control(ch);
		if (ch->ready_head)
			did |= send_ready(ch);
		if (ch->data.head)
			did |= send_data(ch);
		zchannel_flush(ch);
	}
	return did;
}

bool zchannel_recv_turn(void)
{
	bool did = false;

	/* From the last to the first: what is polled may go, and new ones come behind. */
	for (int i = zchannels.nopen; i-- > 0;) {
		if (i >= zchannels.nopen)
			continue; /* several have gone, and what there was has been polled */
		struct zchannel *ch = zchannels.open[i];
		struct zsink sink = {.place = zarrival_place, .take = zarrival_take, .ctx = ch};
		int rc = ch->link->ops->poll(ch->link, &sink, RECV_BUDGET);
		if (rc > 0) {
			did = true;
			if (__builtin_expect(ch->waiting, 0) && ch->link)
				zchannel_set_up(ch); /* we are welcome */
		}
		if (__builtin_expect(ch->fetching.head != NULL, 0) && (rc >= 0 || rc == -EAGAIN)) {
			rc = zfetch_turn(ch);
			did |= rc > 0;
		}
		if (rc < 0 && rc != -EAGAIN)
			receiving_ended(ch, rc);
	}
	return did;
}

static bool has_work(const struct zchannel *ch)
{
	return ch->control_head || ch->ready_head || ch->data.head || ch->held_back || ch->fetching.head;
}

bool zchannel_idle(void)
{
	for (int i = 0; i < zchannels.n; i++) {
		if (has_work(&zchannels.by_zipper[i]))
			return false;
	}
	for (const struct zchannel *ch = zchannels.direct; ch; ch = ch->next)
		if (has_work(ch))
			return false;
	return true;
}

int zchannel_fds(void)
{
	return 2 * zchannels.nopen;
}

int zchannel_arm(struct pollfd *fds, int n)
{
	for (int i = 0; i < zchannels.nopen; i++) {
		struct zchannel *ch = zchannels.open[i];
		uint32_t events;
		bool send = (ch->full || ch->held_back) && !ch->waiting && !ch->broken;
		if (ch->link->ops->arm(ch->link, ZLINK_RX) != 0 ||
			(send && ch->link->ops->arm(ch->link, ZLINK_TX) != 0))
			return -1;
		fds[n].fd = ch->link->ops->fd(ch->link, ZLINK_RX, &events);
		fds[n++].events = zchannel_poll_events(events);
		if (send) {
			fds[n].fd = ch->link->ops->fd(ch->link, ZLINK_TX, &events);
			fds[n++].events = zchannel_poll_events(events);
		}
	}
	return n;
}
