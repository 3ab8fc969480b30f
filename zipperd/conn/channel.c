/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels, from the link to the end of both halves; see channel.h. */
#include "zipperd/conn/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "zipperd/conn/crew.h"
#include "zipperd/conn/dial.h"
#include "zipperd/conn/quota.h"
#include "zipperd/worker/worker_pair.h"

struct channel *channel_create(struct daemon *d, const struct channel_owner *owner)
{
	struct channel *c = aligned_alloc(alignof(struct channel), sizeof(*c));
	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->owner = owner;
	c->daemon = d;
	c->halves = 2;
	return c;
}

int channel_settle(struct zlink *z, struct worker *rx, struct worker *tx, struct zerr *err)
{
	const struct ztransport *t = z->ops;
	if (!t->settle)
		return 0;
	struct zendpoint *erx = worker_pair_endpoint(rx, t, err), *etx = erx ? worker_pair_endpoint(tx, t, err) : NULL;
	if (!etx)
		return -ENOMEM;
	return t->settle_begin ? t->settle_begin(z, erx, etx, err) : t->settle(z, erx, etx, err);
}

static void lend_tx(struct channel *c)
{
	c->lent = true;
	crew_send(c->daemon, c->tx.lane->worker, &(struct command){.kind = CMD_ADD_TX, .tx = &c->tx, .dest = c->dest});
}

static void lend_source(struct channel *c)
{
	crew_send(c->daemon, c->source.lane->worker, &(struct command){.kind = CMD_ADD_SOURCE, .source = &c->source});
}

/* The sending half goes first, as a message that comes in may have to be answered. A circuit waits for both ends,
 * because a circuit's lane keeps no messages for an end that is not there. */
static void hand_halves_over(struct channel *c)
{
	struct channel *other = c->other;
	c->ready = true;
	if (other && !other->ready)
		return;
	lend_tx(c);
	if (other)
		lend_tx(other);
	lend_source(c);
	if (other)
		lend_source(other);
	if (c->owner->lent)
		c->owner->lent(c);
}

static void settled(void *owner, struct zlink *z, const struct zerr *why)
{
	struct channel *c = owner;
	struct zerr err = *why;
	const int rc = z->ops->settle_end(z, &err);
	c->settling = NULL;
	if (rc >= 0 && !c->dropping) {
		hand_halves_over(c);
		return;
	}
	if (!c->dropping)
		c->owner->failed(c, &err);
	channel_close(c);
}

void channel_stop_settling(struct channel *c)
{
	if (c->settling && dial_take_back(c->settling))
		settled(c, c->zlink, &(struct zerr){.text = ""});
}

void channel_begin(struct channel *c, const char *user)
{
	struct zerr err = {.text = ""};
	if (c->dropping)
		channel_close(c);
	else if (!c->waits)
		hand_halves_over(c);
	else if (dial_settle(&c->settling, c->daemon, c->zlink, user, settled, c, &err) != 0)
		settled(c, c->zlink, &err);
}

void channel_drop(struct channel *c)
{
	if (c->dropping)
		return;
	c->dropping = true;
	if (!c->lent) { /* closes now if settling has not begun, else when it is settled */
		channel_stop_settling(c);
		return;
	}
	crew_send(c->daemon, c->source.lane->worker, &(struct command){.kind = CMD_DROP_SOURCE, .source = &c->source});
	crew_send(c->daemon, c->tx.lane->worker, &(struct command){.kind = CMD_DROP_TX, .tx = &c->tx});
}

/* Has the other end not acknowledged everything yet? This thread, which all users share, does not wait for it. */
static bool is_on_its_way(struct channel *c)
{
	return c->zlink->ops->drain && c->zlink->ops->drain(c->zlink) == -EAGAIN;
}

static void close_channel(struct channel *c)
{
	c->zlink->ops->close(c->zlink);
	if (!c->inner) {
		c->daemon->nconnections--;
		quota_give(c->user, QUOTA_CONNECTIONS);
	}
	c->owner->closed(c);
}

void channel_close(struct channel *c)
{
	if (is_on_its_way(c))
		list_add(&c->daemon->draining, &c->draining);
	else
		close_channel(c);
}

void channel_half_gone(struct channel *c)
{
	if (--c->halves == 0)
		channel_close(c);
}

void channel_drain_all(struct daemon *d)
{
	struct list *node, *after;
	if (d->now_ms < d->drain_ms)
		return;
	d->drain_ms = d->now_ms + CHANNEL_DRAIN_MS;
	list_for_each(node, after, &d->draining) {
		struct channel *c = list_entry(node, struct channel, draining);
		if (is_on_its_way(c))
			continue;
		list_del(&c->draining);
		close_channel(c);
	}
}
