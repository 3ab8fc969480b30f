/* SPDX-License-Identifier: BSD-3-Clause */
/* One stream of sequenced messages: numbering, window, acknowledgement, refusal, and a lossy run of both ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/stream/peer.h"
#include "libzip/shim/pool.h"

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
	zpeer_nak(&p, 6, NULL); /* not posted yet */
	assert_int_equal(p.refused, 0);
	zpeer_acked(&p, 2);
	zpeer_nak(&p, 2, NULL); /* acknowledged already */
	assert_int_equal(p.refused, 0);
	zpeer_nak(&p, 4, NULL);
	assert_int_equal(post(&p), 0);
	zpeer_acked(&p, 3);
	assert_int_equal(post(&p), 0); /* still refused */
	assert_true(zpeer_resume(&p));
	assert_false(zpeer_resume(&p));
	assert_int_equal(post(&p), 4);
	zpeer_nak(&p, 4, NULL); /* still no room */
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

/* s hears which messages r has taken: when an acknowledgement is due, or there is nothing to send. */
static void acknowledge(struct zpeer *s, struct zpeer *r, bool idle)
{
	if (!zpeer_ack_is_due(r) && !(idle && zpeer_owes_ack(r)))
		return;
	zpeer_acked(s, zpeer_ack_value(r));
	zpeer_ack_sent(r);
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
			zpeer_nak(&s, seq, NULL);
		} else if (seq) {
			refused = 0;
			assert_int_equal(zpeer_check(&r, seq), ZPEER_TAKE);
			zpeer_take(&r, 100);
		}
		acknowledge(&s, &r, !seq);
		if (refused)
			assert_true(zpeer_resume(&s));
	}
	assert_true(naks > 100);
	zpeer_acked(&s, r.taken);
	assert_null(s.head);
}

/* The same, given a number by hand. */
static struct zpeer_msg *early(uint64_t seq)
{
	struct zpeer_msg *m = zpool_get(sizeof(*m));

	assert_non_null(m);
	memset(m, 0, sizeof(*m));
	m->env.seq = seq;
	return m;
}

/* Memory of the pool has been something else before: nothing of that may be left. */
static void test_create(void **state)
{
	const struct zwire_env env = {.kind = ZWIRE_EAGER, .len = 5};
	struct zpeer p = {0};
	void *old = zpool_get(sizeof(struct zpeer_msg) + env.len);

	(void)state;
	assert_non_null(old);
	memset(old, 0xff, sizeof(struct zpeer_msg) + env.len);
	zpool_put(old);
	struct zpeer_msg *m = zpeer_msg_create(&env, "abcde");
	assert_ptr_equal(m, old);
	assert_null(m->way);
	assert_int_equal(m->posted, 0);
	assert_memory_equal(m->payload, "abcde", 5);
	zpeer_push(&p, m);
	post(&p);
	zpeer_nak(&p, 1, NULL); /* it went the usual way */
	assert_int_equal(p.refused, 1);
	zpeer_clear(&p);
}

static void test_hold(void **state)
{
	static const uint64_t order[] = {5, 3, 6, 2};
	struct zpeer p = {0};
	struct zpeer_msg *m = early(3);

	(void)state;
	assert_null(zpeer_next_held(&p));
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		assert_true(zpeer_hold(&p, early(order[i])));
	assert_false(zpeer_hold(&p, m)); /* there already */
	zpool_put(m);
	assert_null(zpeer_next_held(&p));
	zpeer_take(&p, 0);
	for (uint64_t seq = 2; seq <= 3; seq++) {
		m = zpeer_next_held(&p);
		assert_non_null(m);
		assert_int_equal(m->env.seq, seq);
		zpeer_take(&p, 0);
		zpool_put(m);
	}
	assert_null(zpeer_next_held(&p)); /* 4 is missing */
	zpeer_clear(&p);
	assert_null(p.early);
}

/* A refusal of one way's zipper does not concern messages that went another way. */
static void test_ways(void **state)
{
	struct zpeer p = {0};
	int other;

	(void)state;
	for (int i = 0; i < 6; i++) {
		push(&p, 8);
		p.tail->way = i == 2 || i == 4 ? &other : NULL; /* 3 and 5 */
	}
	for (int i = 0; i < 5; i++)
		post(&p);
	zpeer_nak(&p, 3, NULL); /* that one did not go there */
	assert_int_equal(p.refused, 0);
	zpeer_nak(&p, 3, &other);
	zpeer_nak(&p, 4, NULL);
	assert_int_equal(p.refused, 3);
	zpeer_nak(&p, 2, NULL);
	assert_int_equal(p.refused, 2);
	assert_int_equal(post(&p), 0);
	assert_true(zpeer_resume(&p));
	for (uint64_t seq = 2; seq <= 6; seq++)
		assert_int_equal(post(&p), seq);
	zpeer_nak(&p, 4, NULL);
	assert_true(zpeer_resume(&p));
	assert_int_equal(post(&p), 4);
	assert_int_equal(post(&p), 6); /* 5 has gone its own way */
	assert_int_equal(post(&p), 0);
	zpeer_nak(&p, 6, NULL);
	zpeer_acked(&p, 6);
	assert_null(p.unsent);
	assert_int_equal(p.refused, 0);
	zpeer_leave(&p);
}

#define WAYS 3
#define PIPE 64

/* A zipper: keeps order, drops what comes behind a refused one until that is there again. */
struct zipper {
	uint64_t pipe[PIPE];
	int n;
	uint64_t refused;
};

static void forward(struct zipper *z, struct zpeer *s, uint64_t seq, void *way, unsigned *naks)
{
	if (z->refused && seq > z->refused)
		return;
	if (z->n == PIPE || rand() % 12 == 0) {
		z->refused = seq;
		++*naks;
		zpeer_nak(s, seq, way);
		return;
	}
	if (seq == z->refused)
		z->refused = 0;
	z->pipe[z->n++] = seq;
}

static void arrive_by(struct zpeer *r, uint64_t seq, void *way)
{
	struct zpeer_msg *m;

	switch (zpeer_check(r, seq)) {
	case ZPEER_DUP:
		fail_msg("%lu came twice", (unsigned long)seq);
		break;
	case ZPEER_GAP:
		m = early(seq);
		m->way = way;
		assert_true(zpeer_hold(r, m));
		break;
	case ZPEER_TAKE:
		zpeer_take(r, 100);
		while ((m = zpeer_next_held(r))) {
			assert_int_equal(m->env.seq, r->taken + 1);
			zpeer_take(r, 100);
			zpool_put(m);
		}
	}
}

static void arrive(struct zpeer *r, uint64_t seq)
{
	arrive_by(r, seq, NULL);
}

/* Several zippers that refuse at random and are ahead of each other: 1..n in order, and none twice. */
static void test_ways_run(void **state)
{
	static struct zipper zippers[WAYS];
	struct zpeer s = {0}, r = {0};
	uint64_t sent = 0;
	unsigned naks = 0;

	(void)state;
	srand(8);
	while (r.taken < 20000) {
		for (; sent < 20000 && zpeer_has_room(&s, 100); sent++) {
			int w = rand() % 4 ? 0 : rand() % WAYS;
			push(&s, 100);
			s.tail->way = w ? &zippers[w] : NULL;
		}
		const struct zpeer_msg *next = zpeer_unsent(&s);
		if (next) {
			struct zipper *z = next->way ? next->way : &zippers[0];
			void *way = next->way;
			forward(z, &s, post(&s), way, &naks);
		}
		struct zipper *z = &zippers[rand() % WAYS];
		for (int k = rand() % 4; k > 0 && z->n > 0; k--) {
			arrive(&r, z->pipe[0]);
			memmove(z->pipe, z->pipe + 1, (size_t)--z->n * sizeof(z->pipe[0]));
		}
		if (rand() % 3 == 0)
			zpeer_resume(&s);
		acknowledge(&s, &r, !next);
	}
	assert_true(naks > 100);
	assert_null(r.early);
	zpeer_acked(&s, r.taken);
	assert_null(s.head);
}

static bool is_that(const void *way, const void *ctx)
{
	return way == ctx;
}

/* A way is lost: what went there is posted again, the usual way, and nothing of what went elsewhere. */
static void test_reroute(void **state)
{
	struct zpeer p = {0};
	int other, third;

	(void)state;
	for (int i = 0; i < 6; i++) {
		push(&p, 8);
		p.tail->way = i == 1 || i == 4 ? &other : i == 3 ? &third : NULL; /* 2 and 5, 4 */
	}
	p.head->next->env.kind = ZWIRE_RTS; /* 2, with a key of 8 bytes */
	p.head->next->env.flags = ZWIRE_F_ONE_SIDED | ZWIRE_F_SYNC;
	for (int i = 0; i < 5; i++)
		post(&p);
	zpeer_nak(&p, 4, &third);
	assert_int_equal(p.refused, 4);
	for (uint64_t seq = 2; seq <= 4; seq++) {
		struct zpeer_msg *m = early(seq);
		m->way = seq == 3 ? &third : &other;
		assert_true(zpeer_hold(&p, m));
	}
	p.halted = true;
	zpeer_reroute(&p, is_that, &other, NULL);
	zpeer_drop_early(&p, is_that, &other, NULL);
	assert_int_equal(post(&p), 0);
	p.halted = false;
	assert_int_equal(p.head->next->env.len, 0);
	assert_int_equal(p.head->next->env.flags, ZWIRE_F_SYNC);
	assert_int_equal(p.bytes, 40);
	assert_null(zpeer_unsent(&p)->way);
	assert_int_equal(post(&p), 2);
	assert_ptr_equal(zpeer_unsent(&p)->way, &third);
	assert_int_equal(post(&p), 4); /* the third may refuse it again */
	assert_int_equal(post(&p), 5);
	assert_int_equal(post(&p), 6);
	zpeer_take(&p, 0);
	assert_null(zpeer_next_held(&p)); /* 2 will come again */
	zpeer_take(&p, 0);
	struct zpeer_msg *m = zpeer_next_held(&p);
	assert_non_null(m);
	assert_int_equal(m->env.seq, 3);
	zpool_put(m);
	assert_null(p.early);
	/* The usual way is lost, and the third is that now: zipperd there calls its messages so. */
	zpeer_reroute(&p, is_that, NULL, &third);
	zpeer_acked(&p, 3);
	assert_null(p.head->way);
	assert_int_not_equal(p.head->posted, 0);
	assert_int_equal(post(&p), 5);
	assert_int_equal(post(&p), 6);
	zpeer_clear(&p);
}

struct lost_way { /* of the zippers, one is lost, perhaps the usual one */
	const struct zipper *lost, *usual;
};

static bool is_lost_zipper(const void *way, const void *ctx)
{
	const struct lost_way *l = ctx;

	return (way ? way : l->usual) == l->lost;
}

/* Zippers are lost one after the other in the middle of it, with all that they hold: 1..n in order, and none twice. */
static void run_with_losses(void)
{
	struct zipper zippers[WAYS] = {{.n = 0}};
	struct zpeer s = {0}, r = {0};
	struct zipper *usual = &zippers[rand() % WAYS];
	bool lost[WAYS] = {false};
	uint64_t sent = 0;
	unsigned naks = 0;

	for (int turn = 0, left = WAYS; r.taken < 400; turn++) {
		int w = rand() % WAYS;
		if (left > 1 && !lost[w] && rand() % 200 == 0) {
			const struct lost_way l = {&zippers[w], usual};
			const void *other = NULL;
			lost[w] = true;
			left--;
			for (int i = 0; usual == &zippers[w] && i < WAYS; i++)
				if (!lost[i])
					other = usual = &zippers[i];
			zpeer_reroute(&s, is_lost_zipper, &l, other);
			zpeer_reroute(&r, is_lost_zipper, &l, other);
			zpeer_drop_early(&r, is_lost_zipper, &l, other);
			zpeer_acked(&s, zpeer_ack_value(&r));
			zpeer_ack_sent(&r);
		}
		for (; sent < 400 && zpeer_has_room(&s, 100); sent++) {
			push(&s, 100);
			s.tail->way = lost[w] || usual == &zippers[w] || rand() % 2 ? NULL : &zippers[w];
		}
		struct zpeer_msg *next = zpeer_unsent(&s);
		if (next) {
			void *way = next->way;
			forward(way ? way : usual, &s, post(&s), way, &naks);
		}
		struct zipper *z = &zippers[rand() % WAYS];
		for (int k = rand() % 4; !lost[z - zippers] && k > 0 && z->n > 0; k--) {
			arrive_by(&r, z->pipe[0], z == usual ? NULL : z);
			memmove(z->pipe, z->pipe + 1, (size_t)--z->n * sizeof(z->pipe[0]));
		}
		if (rand() % 3 == 0)
			zpeer_resume(&s);
		acknowledge(&s, &r, !next);
		assert_true(turn < 1000000);
	}
	assert_null(r.early);
	zpeer_clear(&s);
	zpeer_clear(&r);
}

static void test_losses(void **state)
{
	(void)state;
	srand(9);
	for (int i = 0; i < 300; i++)
		run_with_losses();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_ack),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_receive),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_create),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_ways_run),
		cmocka_unit_test(test_reroute),
		cmocka_unit_test(test_losses),
	};
	int rc = cmocka_run_group_tests_name("peer", tests, NULL, NULL);

	zpool_fini();
	return rc;
}
