/* SPDX-License-Identifier: BSD-3-Clause */
/* Offers of one-sided transfers and their answers, see offer.h. */
#include "zipperd/onesided/offer.h"

#include <errno.h>
#include <string.h>

#include "zipperd/lane/fanout.h"
#include "zipperd/lane/room.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/lane/worker.h"

/* A new transfer. A repeated offer takes the place of the first one, unless the receiver has answered that. NULL: it is
 * to be a plain RTS. */
static struct transfer *add(struct lane *l, struct dest *d, uint32_t src, const struct zwire_env *env)
{
	struct worker *w = l->worker;
	struct transfer *t = transfer_find(l, src, env->xfer);
	if (t && t->state != TRANSFER_OFFERED)
		return NULL; /* a repetition of a running transfer, or nonsense: the receiver knows */
	if (t && t->fanned && fanout_say(w, t, RELAYED_LEFT) != 0)
		return NULL;
	if (t)
		transfer_release(w, t);
	return transfer_create(l, d, src, env);
}

bool offer_take(struct source *s, struct dest *d, const struct zwire_env *env, const uint8_t key[ZRMA_KEY_BYTES])
{
	if (!transfer_can_read(s) || s->ntransfers >= TRANSFER_OFFERS_MAX)
		return false;
	struct transfer *t = add(s->lane, d, s->station, env);
	if (!t)
		return false;
	t->source = s;
	memcpy(t->from, key, ZRMA_KEY_BYTES);
	list_add(&s->transfers, &t->of_source);
	s->ntransfers++;
	return true;
}

int offer_fanned(struct lane *l, const struct zwire_env *env, const struct fan *fan)
{
	struct worker *w = l->worker;
	struct zwire_env plain = *env;
	struct dest *d = lane_dest(l, l->place[env->dst].dest);
	int rc = room_check(w, d, env);
	if (rc != ROOM_THERE)
		return rc == ROOM_REFUSED ? 0 : -EAGAIN;
	struct transfer *t = add(l, d, env->src, env);
	if (t) {
		t->fanned = true;
		t->fan = *fan;
	} else {
		plain.flags &= (uint16_t)~ZWIRE_F_ONE_SIDED;
	}
	rc = dest_send(w, d, &plain);
	if (rc != 0) {
		if (t)
			transfer_release(w, t);
		return rc;
	}
	lane_count(l, &plain);
	return t != NULL;
}

/* The offer that the receiver answers. NULL: there is none. */
static struct transfer *offer_of(struct dest *d, const struct note *n)
{
	struct transfer *t = transfer_find(d->lane, n->dst, n->xfer);
	return t && t->state == TRANSFER_OFFERED && t->dest == d ? t : NULL;
}

int offer_withdraw(struct worker *w, struct dest *d, const struct note *n)
{
	struct transfer *t = offer_of(d, n);
	if (!t)
		return 0;
	if (t->fanned && fanout_say(w, t, RELAYED_LEFT) != 0)
		return -EAGAIN;
	transfer_release(w, t);
	return 0;
}

int offer_accept(struct worker *w, struct dest *d, const struct note *n)
{
	struct transfer *t = offer_of(d, n);
	if (!t || t->total != n->total || !transfer_can_write(w, t) || (t->source && !transfer_can_read(t->source)) ||
		(!t->fanned && w->staging.stuck))
		return dest_send_moved(w, d, n->dst, n->receiver_xfer, 0);
	if (t->fanned && fanout_say(w, t, RELAYED_READY) != 0)
		return -EAGAIN;
	t->receiver_xfer = n->receiver_xfer;
	t->ack = n->ack;
	memcpy(t->to, n->key, ZRMA_KEY_BYTES);
	t->state = TRANSFER_RUNNING;
	if (t->fanned) { /* the fan-out's reader reads */
		list_add(&d->started, &t->of_dest);
		return 0;
	}
	if (list_empty(&d->starting))
		d->hungry.since_ms = 0;
	list_add(&d->starting, &t->of_dest);
	if (!list_linked(&d->carrying))
		list_add(&w->carrying, &d->carrying);
	return 0;
}
