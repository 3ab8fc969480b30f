/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that send more than they have credit for, and so take receives of other links: no longer than until somebody
 * looks, whatever becomes of their links. */
#include "test/unit/verbs/parts.h"

#include <errno.h>

#define MORE 40 /* sends too many; there are receives for them */
#define MANY 1000000

static struct vlink *verbs_of(struct zlink *l)
{
	return (struct vlink *)(void *)l;
}

/* Sends until messages go by the queue pair, and returns their number. */
static uint64_t change_over(struct zlink *from, struct zlink *to, struct inbox *in)
{
	uint64_t sent = 0;
	while (verbs_of(from)->tx.mode != VMODE_QUEUE && post_message(from, sent, 10) == 0)
		receive_until(to, in, ++sent);
	return sent;
}

/* Another link of the same queue. */
static void goes_on(struct pair *good)
{
	struct inbox in;
	inbox_init(&in);
	for (uint64_t k = 0; k < 100; k++) {
		assert_int_equal(post_message(good->a, k, 10), 0);
		assert_int_equal(good->a->ops->flush(good->a), 0);
		receive_until(good->b, &in, k + 1);
	}
	inbox_fini(&in);
	pair_close(good);
}

/* Both directions go by TCP still. */
static struct pair new_pair(struct fixture *f)
{
	struct pair p = {.a = fixture_connect(f)};
	p.b = fixture_accept(f);
	fixture_settle(f, p.b);
	return p;
}

/* Sends that no link knows of. */
static void send_behind_its_back(struct zlink *l, int n)
{
	uint8_t payload[8] = {0};
	struct ibv_sge sge = {.addr = (uintptr_t)payload, .length = sizeof(payload)};
	struct ibv_send_wr *bad,
		wr = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE, .sg_list = &sge, .num_sge = 1};
	while (n-- > 0)
		assert_int_equal(ibv_post_send(verbs_of(l)->tx.queue.qp, &wr, &bad), 0);
}

void who_takes_more_than_its_credit(void **state)
{
	struct fixture *f = *state;
	struct pair bad = fixture_pair(f), good = fixture_pair(f);
	struct vtx *tx = &((struct vlink *)(void *)bad.a)->tx;
	struct vrx *rx = &((struct vlink *)(void *)bad.b)->rx;
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	uint64_t sent = change_over(bad.a, bad.b, &in);
	/* the credit that the receiver has given, whether it has come or not */
	const uint64_t limit = sent + rx->limit - tx->sent;
	for (; sent < limit + 5; sent++) {
		tx->limit = rx->limit + 5;
		assert_int_equal(post_message(bad.a, sent, 10), 0);
	}
	bad.a->ops->flush(bad.a);
	assert_true(bad.b->ops->poll(bad.b, &sink, 1000) > 0); /* no more credit within one poll */
	assert_int_equal(in.next, limit);
	assert_int_equal(rx->queue.qp->state, IBV_QPS_ERR);
	assert_int_equal(receive_to_end(bad.b, &in), -EPROTO);
	assert_int_equal(in.next, limit);
	inbox_fini(&in);
	pair_close(&bad);
	goes_on(&good);
}

/* It stays with TCP, as far as it says. The ends at the other side are asleep, or take messages by TCP all the time. */
void who_never_changes_over(void **state)
{
	for (int busy = 0; busy < 2; busy++) {
		struct fixture *f = *state;
		struct pair bad = new_pair(f), good = fixture_pair(f);
		struct vrx *rx = &verbs_of(bad.b)->rx;
		struct inbox in, none;
		inbox_init(&in);
		inbox_init(&none);
		struct zsink sink = inbox_sink(&in), back = inbox_sink(&none);
		while (rx->way == VRX_WAY_UNTRIED) {
			assert_true(bad.a->ops->poll(bad.a, &back, 1) >= 0);
			assert_int_equal(bad.a->ops->flush(bad.a), 0);
			assert_true(bad.b->ops->poll(bad.b, &sink, 1) >= 0);
		}
		assert_int_equal(rx->mode, VMODE_STREAM);
		while (!busy && bad.b->ops->arm(bad.b, ZLINK_RX) != 0)
			assert_true(bad.b->ops->poll(bad.b, &sink, 1) >= 0);
		uint64_t sent = 0;
		if (busy) { /* by TCP, as no credit has come yet */
			assert_true(verbs_of(bad.a)->tx.limit == verbs_of(bad.a)->tx.sent);
			assert_int_equal(post_message(bad.a, sent++, 10), 0);
			assert_int_equal(bad.a->ops->flush(bad.a), 0);
		}
		send_behind_its_back(bad.a, (int)rx->limit + MORE);
		if (!busy)
			assert_true(sleep_on(bad.b, ZLINK_RX, PATIENCE_MS));
		for (int looks = 0; rx->queue.qp->state != IBV_QPS_ERR; looks++) {
			assert_true(looks < MANY);
			bad.b->ops->poll(bad.b, &sink, 1);
		}
		assert_int_equal(receive_to_end(bad.b, &in), -EPROTO);
		assert_int_equal(in.next, sent);
		inbox_fini(&in);
		inbox_fini(&none);
		pair_close(&bad);
		goes_on(&good);
	}
}

/* Its message is taken when there is room for it, and its link ends then. */
void who_is_refused_and_goes_on(void **state)
{
	struct fixture *f = *state;
	struct pair bad = fixture_pair(f), good = fixture_pair(f);
	struct vrx *rx = &verbs_of(bad.b)->rx;
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	uint64_t sent = change_over(bad.a, bad.b, &in);
	assert_int_equal(post_message(bad.a, sent++, 10), 0);
	assert_int_equal(bad.a->ops->flush(bad.a), 0);
	in.fail_with = -EAGAIN;
	while (!rx->kept)
		bad.b->ops->poll(bad.b, &sink, 1);
	send_behind_its_back(bad.a, (int)(rx->limit - rx->consumed) + MORE);
	for (int looks = 0; rx->queue.qp->state != IBV_QPS_ERR; looks++) {
		assert_true(looks < MANY);
		assert_int_equal(bad.b->ops->poll(bad.b, &sink, 1), -EAGAIN);
	}
	in.fail_with = 0;
	assert_true(receive_to_end(bad.b, &in) < 0);
	assert_int_equal(in.next, sent);
	inbox_fini(&in);
	pair_close(&bad);
	goes_on(&good);
}

/* Peers acknowledge from now on, but not packets that were on their way. */
static void end_silence(void)
{
	fake_lock(fake_fabric());
	fake_fabric()->silent = 0;
	fake_unlock(fake_fabric());
}

/* Our sends to it are not acknowledged, and the end of a link waits for that. */
void who_goes_on_while_its_link_closes(void **state)
{
	struct fixture *f = *state;
	struct pair bad = fixture_pair(f), good = fixture_pair(f);
	struct vrx *rx = &verbs_of(bad.b)->rx;
	struct inbox in;
	inbox_init(&in);
	const uint64_t sent = change_over(bad.b, bad.a, &in);
	silence(true);
	assert_int_equal(post_message(bad.b, sent, 10), 0);
	assert_int_equal(bad.b->ops->flush(bad.b), 0);
	end_silence();
	assert_int_equal(bad.b->ops->drain(bad.b), -EAGAIN);
	assert_int_not_equal(rx->queue.qp->state, IBV_QPS_ERR);
	send_behind_its_back(bad.a, (int)rx->limit + MORE);
	bad.b->ops->drain(bad.b);
	assert_int_equal(rx->queue.qp->state, IBV_QPS_ERR);
	inbox_fini(&in);
	pair_close(&bad);
	goes_on(&good);
}

/* More than the ring of arrivals holds, where the window is large: all that it may send, and then as much again. */
void who_sends_much_while_its_link_closes(void **state)
{
	struct fixture *f = *state;
	option("ZIPPER_VERBS_WINDOW", "256");
	option("ZIPPER_VERBS_BUFFERS", "2048");
	struct pair bad = fixture_pair(f), good = fixture_pair(f);
	struct vtx *tx = &verbs_of(bad.b)->tx;
	struct vrx *rx = &verbs_of(bad.b)->rx;
	struct inbox in;
	uint64_t sent = 0;
	inbox_init(&in);
	while (tx->mode != VMODE_QUEUE && post_message(bad.b, sent, 10) == 0)
		receive_until(bad.a, &in, ++sent);
	rx->limit = rx->consumed + 256; /* as after bursts */
	silence(true);
	assert_int_equal(post_message(bad.b, sent, 10), 0);
	assert_int_equal(bad.b->ops->flush(bad.b), 0);
	end_silence();
	assert_int_equal(bad.b->ops->drain(bad.b), -EAGAIN);
	send_behind_its_back(bad.a, 256);
	assert_int_equal(bad.b->ops->drain(bad.b), -EAGAIN);
	verbs_of(bad.a)->tx.head = verbs_of(bad.a)->tx.tail; /* nobody reaps them */
	send_behind_its_back(bad.a, 270);
	bad.b->ops->drain(bad.b);
	assert_int_equal(rx->queue.qp->state, IBV_QPS_ERR);
	inbox_fini(&in);
	pair_close(&bad);
	goes_on(&good);
	option("ZIPPER_VERBS_WINDOW", NULL);
	option("ZIPPER_VERBS_BUFFERS", NULL);
}
