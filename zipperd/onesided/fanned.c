/* SPDX-License-Identifier: BSD-3-Clause */
/* Receivers of fan-outs, see fanned.h. */
#include "zipperd/onesided/fanned.h"

#include <errno.h>

#include "zipperd/lane/loan.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/carry.h"
#include "zipperd/onesided/offer.h"

int fanned_take_offer(struct worker *w, struct relayed *m)
{
	struct zwire_env env;
	struct lane *l = zwire_decode(&env, m->env) == 0 ? worker_lane(w, m->job, env.src, env.dst) : NULL;
	if (!l)
		return 0; /* the job is over */
	struct relay *back = l->relay[m->fan.part];
	if (!back)
		return -EAGAIN; /* the command with it is about to come */
	if (!m->refused) {
		int rc = offer_fanned(l, &env, &m->fan);
		if (rc != 0)
			return rc < 0 ? rc : 0;
		m->refused = true;
	}
	const struct relayed left = {.what = RELAYED_LEFT, .job = m->job, .fan = m->fan};
	return relay_answer(w, back, &left);
}

int fanned_take_piece(struct worker *w, const struct relayed *m)
{
	struct lane *l = worker_lane(w, m->job, m->src, m->dst);
	struct transfer *t = l ? transfer_find(l, m->src, m->xfer) : NULL;
	if (!t || !t->fanned || t->state != TRANSFER_RUNNING || !t->dest->tx) { /* the transfer has ended meanwhile */
		loan_put(w, m->piece);
		return 0;
	}
	struct buf *b = pool_get(&w->pool, sizeof(struct carry));
	if (!b)
		return -EAGAIN;
	struct carry *c = (struct carry *)(void *)b->payload;
	*c = (struct carry){.transfer = t, .piece = m->piece, .buf = b, .shared = m->shared};
	carry_start(w, c);
	return 0;
}

void fanned_take_decline(struct worker *w, const struct relayed *m)
{
	struct lane *l = worker_lane(w, m->job, m->src, m->dst);
	struct transfer *t = l ? transfer_find(l, m->src, m->xfer) : NULL;
	if (t && t->fanned && t->state == TRANSFER_RUNNING)
		transfer_decline(w, t);
}
