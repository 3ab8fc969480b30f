/* SPDX-License-Identifier: BSD-3-Clause */
/* One stream of sequenced messages: numbering, window, acknowledgement, refusal, and a lossy run of both ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "peer.h"
#include "pool.h"

static void push(struct zpeer *p, uint32_t len)
{
	struct zpeer_msg *m = zpool_get(sizeof(*m) + len);

	assert_non_null(m);
	memset(m, 0, sizeof(*m));
	m->env.len = len;
	zpeer_push(p, m);
}

static uint64_t post(struct zpeer *p)
{
	struct zpeer_msg *m = zpeer_unsent(p);

	if (!m)
		return 0;
	zpeer_sent(p, m);
	return m->env.seq;
}

static void test_window(void **state)
{
	struct zpeer p = {0};

	(void)state;
	assert_true(zpeer_has_room(&p, 10 * ZPEER_WINDOW_BYTES)); /* an empty window takes any */
	for (uint32_t i = 0; i < ZPEER_WINDOW_MSGS; i++) {
		assert_true(zpeer_has_room(&p, 0));
		push(&p, 0);
	}
	assert_false(zpeer_has_room(&p, 0));
	assert_int_equal(zpeer_acked(&p, 1), 1);
	assert_true(zpeer_has_room(&p, 0));
	zpeer_leave(&p);

	p = (struct zpeer){0};
	push(&p, ZPEER_WINDOW_BYTES - 100);
	assert_true(zpeer_has_room(&p, 100));
	assert_false(zpeer_has_room(&p, 101));
	zpeer_leave(&p);
	assert_int_equal(p.bytes, 0);
}

static void test_ack(void **state)
{
	struct zpeer p = {0};

	(void)state;
	for (int i = 0; i < 5; i++)
		push(&p, 8);
	for (uint64_t seq = 1; seq <= 5; seq++)
		assert_int_equal(post(&p), seq);
	assert_int_equal(post(&p), 0);
	assert_int_equal(zpeer_acked(&p, 3), 3);
	assert_int_equal(zpeer_acked(&p, 2), 0); /* an older one that was overtaken */
	assert_int_equal(zpeer_acked(&p, 6), 0); /* never sent */
	assert_int_equal(zpeer_acked(&p, UINT64_MAX), 0);
	assert_int_equal(zpeer_acked(&p, 5), 2);
	assert_null(p.head);
	assert_null(p.tail);
	assert_int_equal(p.bytes, 0);
}

static void test_refusal(void **state)
{
	struct zpeer p = {0};

	(void)state;
	for (int i = 0; i < 6; i++)
		push(&p, 8);
	for (int i = 0; i < 5; i++)
		post(&p);
	zpeer_nak(&p, 6); /* not posted yet */
	assert_int_equal(p.refused, 0);
	zpeer_acked(&p, 2);
	zpeer_nak(&p, 2); /* acknowledged already */
	assert_int_equal(p.refused, 0);
	zpeer_nak(&p, 4);
	assert_int_equal(post(&p), 0);
	zpeer_acked(&p, 3);
	assert_int_equal(post(&p), 0); /* still refused */
	assert_true(zpeer_resume(&p));
	assert_false(zpeer_resume(&p));
	assert_int_equal(post(&p), 4);
	zpeer_nak(&p, 4); /* still no room */
	assert_int_equal(post(&p), 0);
	assert_true(zpeer_resume(&p));
	for (uint64_t seq = 4; seq <= 6; seq++)
		assert_int_equal(post(&p), seq);
	assert_int_equal(zpeer_leave(&p), 3);
	assert_true(p.gone);
}

static void test_receive(void **state)
{
	struct zpeer p = {0};

	(void)state;
	assert_int_equal(zpeer_check(&p, 1), ZPEER_TAKE);
	assert_int_equal(zpeer_check(&p, 2), ZPEER_GAP);
	assert_int_equal(zpeer_check(&p, 0), ZPEER_DUP);
	assert_false(zpeer_owes_ack(&p));
	zpeer_take(&p, 8);
	assert_int_equal(zpeer_check(&p, 1), ZPEER_DUP);
	assert_true(zpeer_owes_ack(&p));
	assert_false(zpeer_ack_is_due(&p));
	for (uint32_t i = 1; i < ZPEER_ACK_MSGS; i++)
		zpeer_take(&p, 8);
	assert_true(zpeer_ack_is_due(&p));
	zpeer_ack_sent(&p);
	assert_false(zpeer_owes_ack(&p));
	zpeer_take(&p, ZPEER_ACK_BYTES);
	assert_true(zpeer_ack_is_due(&p));
	zpeer_ack_sent(&p);
	zpeer_repeat_ack(&p);
	assert_true(zpeer_owes_ack(&p));
	assert_true(zpeer_ack_is_due(&p));
}

/* A forwarder that refuses at random: the receiver must get 1..n in order, whatever happens. */
static void test_run(void **state)
{
	struct zpeer s = {0}, r = {0};
	uint64_t sent = 0, refused = 0;
	unsigned naks = 0;

	(void)state;
	srand(7);
	while (r.taken < 20000) {
		while (sent < 20000 && zpeer_has_room(&s, 100)) {
			push(&s, 100);
			sent++;
		}
		uint64_t seq = post(&s);
		if (seq && refused && seq != refused)
			continue; /* dropped silently until the refused one comes again */
		if (seq && rand() % 10 == 0) {
			refused = seq;
			naks++;
			for (int late = rand() % 5; late > 0; late--)
				post(&s); /* on their way already */
			zpeer_nak(&s, seq);
		} else if (seq) {
			refused = 0;
			assert_int_equal(zpeer_check(&r, seq), ZPEER_TAKE);
			zpeer_take(&r, 100);
		}
		if (zpeer_ack_is_due(&r) || (!seq && zpeer_owes_ack(&r))) {
			zpeer_acked(&s, zpeer_ack_value(&r));
			zpeer_ack_sent(&r);
		}
		if (refused)
			assert_true(zpeer_resume(&s));
	}
	assert_true(naks > 100);
	zpeer_acked(&s, r.taken);
	assert_null(s.head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_ack),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_receive),
		cmocka_unit_test(test_run),
	};
	int rc = cmocka_run_group_tests_name("peer", tests, NULL, NULL);

	zpool_fini();
	return rc;
}
