/* SPDX-License-Identifier: BSD-3-Clause */
/* The intake of relays, see inbound.h. */
#include "zipperd/worker/inbound.h"

#include <errno.h>
#include <sys/eventfd.h>

#include "zipperd/lane/body.h"
#include "zipperd/lane/fanout.h"
#include "zipperd/lane/loan.h"
#include "zipperd/lane/relay.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/fanned.h"
#include "zipperd/worker/command.h"
#include "zipperd/worker/multicast.h"

#define RELAY_BUDGET 16 /* things from one relay per round, as messages from a source */

/* 0 or -EAGAIN. The taker owns what comes with it, except a body. */
static int take(struct worker *w, struct relayed *m)
{
	switch (m->what) {
	case RELAYED_MESSAGE:
		return multicast_take_relayed(w, m);
	case RELAYED_OFFER:
		return fanned_take_offer(w, m);
	case RELAYED_PIECE:
		return fanned_take_piece(w, m);
	case RELAYED_DECLINE:
		fanned_take_decline(w, m);
		break;
	case RELAYED_READY:
	case RELAYED_LEFT:
		fanout_hear(w, &m->fan, m->what);
		break;
	}
	return 0;
}

static bool empty(struct worker *w, struct relay *r)
{
	struct relayed *m;
	bool moved = false;
	for (int i = 0; i < RELAY_BUDGET && (m = relay_ring_peek(&r->ring)); i++) {
		/* Its lane was added before the other worker could know of this relay; but the command may have come
		 * only since this worker looked. */
		command_run_all(w);
		if (take(w, m) != 0)
			break;
		body_put(w, m->body);
		relay_ring_drop(&r->ring);
		moved = true;
	}
	if (moved && atomic_exchange(&r->full, false))
		eventfd_write(r->from->wake_fd, 1);
	return moved;
}

bool inbound_turn(struct worker *w)
{
	body_collect(w);
	bool moved = (w->full || w->kept) && relay_catch_up(w);
	w->pool.last = true; /* all jobs wait behind each other here, as with notes */
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		moved |= empty(w, r);
	w->pool.last = false;
	return moved;
}

bool inbound_waits(struct worker *w)
{
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		if (relay_ring_peek(&r->ring))
			return true;
	return w->kept;
}

void inbound_drain(struct worker *w)
{
	struct relayed *m;
	relay_fini(w);
	for (struct relay *r = w->inbound; r; r = r->inbound_next)
		while ((m = relay_ring_peek(&r->ring))) {
			body_put(w, m->body);
			if (m->what == RELAYED_PIECE)
				loan_put(w, m->piece);
			relay_ring_drop(&r->ring);
		}
}
