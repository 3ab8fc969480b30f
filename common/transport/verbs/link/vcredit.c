/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit of the receive half. Credit that a sender has been given is reserved for it until it was used, and it may
 * never be used. So a link begins with the credit for the buffers that it owns (vpool.h). The credit that the sender
 * has ahead doubles each time it was used: up to USEFUL, where messages of credit are rare beside those of data, and
 * further while messages come faster than they are taken. Otherwise, and where the pool has become scarce, it is
 * renewed to less. Nor does a link get more than its part of the pool if there are many links. So each link has that
 * part left, whatever other links have had and do not use.
 */
#include "common/transport/verbs/link/vcredit.h"

#include <arpa/inet.h>
#include <errno.h>

#include "common/transport/verbs/device/voptions.h"
#include "common/transport/verbs/link/vtag.h"

#define CREDIT_SENDS 16 /* messages of credit under way */
#define USEFUL 16	/* sends ahead: buffers for the time that credit takes on its way in one building */
#define BURST 8		/* sends that were there at once: they come faster than they are taken */
#define CALMS 8		/* so many times without a burst, and a link needs less */

static uint32_t at_least(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int post_credit(struct vlink *l, uint32_t limit)
{
	struct vrx *rx = &l->rx;
	struct ibv_send_wr *bad, wr = {.opcode = IBV_WR_SEND_WITH_IMM, .imm_data = htonl(limit), .wr_id = VTAG_CREDIT};
	if (++rx->run == VCREDIT_RUN || rx->way != VRX_WAY_PROVEN) {
		wr.send_flags = IBV_SEND_SIGNALED;
		wr.wr_id = vtag_make(VTAG_CREDIT, 0, rx->run);
		rx->run = 0;
	}
	rx->sends++;
	return ibv_post_send(rx->queue.qp, &wr, &bad) == 0 ? 0 : -EIO;
}

/* Credit has been used so far that more is to be given: adapts the window. */
static void adapt(struct vrx *rx)
{
	const bool burst = rx->burst >= BURST;
	rx->calms = burst ? 0 : rx->calms + 1;
	rx->burst = 0;
	if (rx->window < USEFUL || burst) {
		rx->window = at_most(2 * rx->window, (uint32_t)voptions->window);
	} else if (rx->calms >= CALMS) {
		rx->window = at_least(rx->window / 2, USEFUL);
		rx->calms = 0;
	}
}

/* The number of shared buffers that the sender shall have; not less than the `extra` that it has. */
static int32_t choose_extra(const struct vrx *rx, int32_t extra)
{
	const struct vpool *p = rx->pool;
	const uint32_t links = at_least(atomic_load_explicit(&p->links, memory_order_relaxed), 1);
	const int32_t part = (int32_t)at_least(p->buffers / links, USEFUL - VPOOL_OWN);
	int32_t want = (int32_t)rx->window - VPOOL_OWN, left = (p->shared + extra) / 2;
	want = want < part ? want : part;
	want = want < left ? want : left;
	return want > extra ? want : extra;
}

/* Have messages come one after the other since credit was told last, as where each waits for an answer? */
static bool come_alone(const struct vrx *rx)
{
	return rx->burst <= 1;
}

/* So much new credit is worth a message of credit, which costs both ends as much as a message of data. */
static int32_t step_of(const struct vrx *rx, int32_t ahead)
{
	if (ahead >= 32)
		return ahead / 4;
	if (ahead >= 16)
		return come_alone(rx) ? 12 : 8;
	return ahead / 2;
}

int vcredit_grant(struct vlink *l)
{
	struct vrx *rx = &l->rx;
	struct vpool *p = rx->pool;
	/* A message that was refused still has its buffer. */
	const uint32_t consumed = rx->consumed - (rx->kept != NULL);
	int32_t given = (int32_t)(rx->limit - consumed), extra = given > VPOOL_OWN ? given - VPOOL_OWN : 0, want;
	if (p->nfree && vpool_repost(p) < 0) /* before other links give credit for them */
		return -EIO;
	p->shared += rx->extra - extra;
	rx->extra = extra;
	rx->due = false;
	rx->window = at_least(rx->window, VPOOL_OWN);
	want = choose_extra(rx, extra);
	if (rx->broken || VPOOL_OWN + want - given < step_of(rx, VPOOL_OWN + want))
		return 0;
	if (rx->sends == CREDIT_SENDS) {
		rx->due = true;
		return 0;
	}
	if (rx->way != VRX_WAY_UNTRIED)
		adapt(rx);
	want = choose_extra(rx, extra);
	rx->told = consumed;
	rx->ahead = (uint32_t)(VPOOL_OWN + want);
	if (VPOOL_OWN + want <= given)
		return 0;
	p->shared -= want - extra;
	rx->extra = want;
	rx->limit = consumed + rx->ahead;
	if (rx->way == VRX_WAY_UNTRIED)
		rx->way = VRX_WAY_TRIED;
	return post_credit(l, rx->limit);
}

int vcredit_renew(struct vlink *l, bool delivered, uint32_t burst)
{
	struct vrx *rx = &l->rx;
	const uint32_t consumed = rx->consumed - (rx->kept != NULL);
	rx->burst = at_least(rx->burst, burst);
	if (consumed == rx->told && !rx->due)
		return 0;
	/* Somebody may wait for the messages that have come, and their answers go before credit, unless the sender will
	 * soon have none. */
	const uint32_t reserve = rx->ahead / (come_alone(rx) ? 4 : 2);
	if (delivered && rx->limit - consumed >= reserve)
		return 0;
	return vcredit_grant(l);
}
