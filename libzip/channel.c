/* SPDX-License-Identifier: BSD-3-Clause */
/* The data channels of this rank, see channel.h. */
#include "channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "arrival.h"
#include "error.h"
#include "outgoing.h"
#include "pool.h"
#include "progress.h"
#include "rendezvous.h"
#include "world.h"

#define ATTACH_TIMEOUT_MS 20000 /* zipperd is there: it answered the join */
#define BYE_POLL_MS 100
#define RECV_BUDGET 64		/* messages from one link before the others have their turn */
#define DATA_BUDGET 16		/* fragments to one link before anything else has its turn */

struct zcontrol { /* from the pool */
	struct zcontrol *next;
	struct zremote *remote;
	struct zwire_env env;
	uint8_t key[ZRMA_KEY_BYTES];
};

static struct zchannel *channels; /* [zworld.nparts] */
static struct zbridge_params params;
static int open_count;

int zchannel_init(const struct zbridge_params *p)
{
	params = *p;
	open_count = 0;
	channels = calloc((size_t)zworld.nparts, sizeof(*channels));
	if (!channels)
		return -ENOMEM;
	for (int i = 0; i < zworld.nparts; i++)
		channels[i].part = i;
	return 0;
}

static void drop_control(struct zchannel *ch)
{
	while (ch->control_head) {
		struct zcontrol *c = ch->control_head;
		ch->control_head = c->next;
		zpool_put(c);
	}
}

void zchannel_fini(void)
{
	for (int i = 0; channels && i < zworld.nparts; i++) {
		drop_control(&channels[i]);
		if (channels[i].link)
			channels[i].link->ops->close(channels[i].link);
	}
	free(channels);
	channels = NULL;
	open_count = 0;
}

static short poll_events(uint32_t events)
{
	return (short)((events & EPOLLIN ? POLLIN : 0) | (events & EPOLLOUT ? POLLOUT : 0));
}

static void wait_for_room(struct zlink *l)
{
	uint32_t events;
	struct pollfd p = {.fd = l->ops->fd(l, ZLINK_TX, &events)};

	p.events = poll_events(events);
	if (l->ops->arm(l, ZLINK_TX) == 0)
		poll(&p, 1, BYE_POLL_MS);
}

void zchannel_say_bye(void)
{
	struct zwire_env env = {.kind = ZWIRE_BYE, .src = (uint32_t)zworld.vrank, .dst = ZWIRE_NOBODY};
	uint8_t raw[ZWIRE_ENV_BYTES];

	zwire_encode(raw, &env);
	for (int i = 0; i < zworld.nparts; i++) {
		struct zlink *l = channels[i].link;
		int rc;
		if (!l)
			continue;
		while ((rc = l->ops->post(l, raw, NULL, 0)) == -EAGAIN)
			wait_for_room(l);
		while (rc == 0 && l->ops->flush(l) == -EAGAIN)
			wait_for_room(l);
	}
}

struct zchannel *zchannel_open(int part)
{
	struct zchannel *ch = &channels[part];
	struct zctl_attach attach = {.vrank = (uint32_t)zworld.vrank, .part = (uint32_t)part};
	struct zerr err = {{0}};

	if (ch->link)
		return ch;
	memcpy(attach.token, params.token, sizeof(attach.token));
	if (zsession_attach(&ch->link, params.zipper, params.job, &attach, ATTACH_TIMEOUT_MS, &err) != 0)
		zprogress_lost(err.text);
	open_count++;
	return ch;
}

struct zchannel *zchannel_find(int part)
{
	return channels[part].link ? &channels[part] : NULL;
}

bool zchannel_any_open(void)
{
	return open_count > 0;
}

static _Noreturn void link_broken(const struct zchannel *ch, int rc)
{
	struct zerr err;

	zerr_set(&err, rc, "data channel to part %s by zipperd at %s: %s", zworld.part_name[ch->part], ch->link->peer,
		rc == -ESHUTDOWN ? "closed" : strerror(-rc));
	zprogress_lost(err.text);
}

int zchannel_post(struct zremote *r, struct zwire_env *env, const void *payload)
{
	struct zchannel *ch = r->channel;
	uint8_t raw[ZWIRE_ENV_BYTES];

	if (ch->full)
		return -EAGAIN;
	env->src = (uint32_t)zworld.vrank;
	env->dst = r->vrank;
	env->ack = zpeer_ack_value(&r->stream);
	zwire_encode(raw, env);
	int rc = ch->link->ops->post(ch->link, raw, payload, env->len);
	if (rc == 0) {
		ch->held_back = true;
		/* What a CTS with a key acknowledges the sender hears at the end of the transfer only. */
		if (env->kind != ZWIRE_CTS || env->len == 0 || !zpeer_ack_is_due(&r->stream))
			zpeer_ack_sent(&r->stream);
	} else if (rc == -EAGAIN) {
		ch->full = true;
	} else {
		link_broken(ch, rc);
	}
	return rc;
}

void zchannel_post_control(struct zremote *r, struct zwire_env *env, const uint8_t *key)
{
	struct zchannel *ch = r->channel;

	if (!ch->control_head && zchannel_post(r, env, key) == 0)
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
	struct zchannel *ch = r->channel;

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
		link_broken(ch, rc);
}

static bool send_control(struct zchannel *ch)
{
	bool did = false;

	while (ch->control_head) {
		struct zcontrol *c = ch->control_head;
		if (zchannel_post(c->remote, &c->env, c->key) != 0)
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
	for (int i = 0; i < DATA_BUDGET && op->moved < op->granted && ztransfer_post_data(op) == 0; i++)
		did = true;
	if (op->moved < op->granted)
		zop_list_push(&ch->data, op);
	return did;
}

bool zchannel_send_turn(void)
{
	bool did = false;

	if (open_count == 0)
		return false;
	for (int i = 0; i < zworld.nparts; i++) {
		struct zchannel *ch = &channels[i];
		if (!ch->link)
			continue;
		ch->full = false;
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

	if (open_count == 0)
		return false;
	for (int i = 0; i < zworld.nparts; i++) {
		struct zchannel *ch = &channels[i];
		if (!ch->link)
			continue;
		struct zsink sink = {.place = zarrival_place, .take = zarrival_take, .ctx = ch};
		int rc = ch->link->ops->poll(ch->link, &sink, RECV_BUDGET);
		if (rc > 0)
			did = true;
		else if (rc < 0 && rc != -EAGAIN)
			link_broken(ch, rc);
	}
	return did;
}

bool zchannel_idle(void)
{
	for (int i = 0; i < zworld.nparts; i++) {
		const struct zchannel *ch = &channels[i];
		if (ch->control_head || ch->ready_head || ch->data.head || ch->held_back)
			return false;
	}
	return true;
}

int zchannel_arm(struct pollfd *fds, int cap)
{
	int n = 0;

	for (int i = 0; i < zworld.nparts; i++) {
		struct zchannel *ch = &channels[i];
		uint32_t events;
		if (!ch->link)
			continue;
		bool send = ch->full || ch->held_back;
		if (n + 2 > cap || ch->link->ops->arm(ch->link, ZLINK_RX) != 0 ||
			(send && ch->link->ops->arm(ch->link, ZLINK_TX) != 0))
			return -1;
		fds[n].fd = ch->link->ops->fd(ch->link, ZLINK_RX, &events);
		fds[n++].events = poll_events(events);
		if (send) {
			fds[n].fd = ch->link->ops->fd(ch->link, ZLINK_TX, &events);
			fds[n++].events = poll_events(events);
		}
	}
	return n;
}
