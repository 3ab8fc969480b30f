/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of links whose last messages are not acknowledged (drain in transport.h). */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"

#define SEVERAL 4

static void send_into_silence(struct fixture *f, struct pair *p, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = fixture_pair(f);
	silence(true);
	for (int i = 0; i < n; i++) {
		assert_int_equal(post_message(p[i].a, 0, 1000), 0);
		assert_int_equal(p[i].a->ops->flush(p[i].a), 0);
	}
}

static void drain_to_end(struct zlink *link)
{
	const time_t end = time(NULL) + PATIENCE_MS / 1000;
	while (link->ops->drain(link) == -EAGAIN)
		assert_true(time(NULL) < end);
	assert_int_equal(link->ops->drain(link), 0);
}

/* Links can be drained at the same time. Messages arrive as soon as they can. */
void links_end_together(void **state)
{
	struct pair p[SEVERAL];
	send_into_silence(*state, p, SEVERAL);
	for (int i = 0; i < 2 * SEVERAL; i++)
		assert_int_equal(p[i % SEVERAL].a->ops->drain(p[i % SEVERAL].a), -EAGAIN);
	silence(false);
	for (int i = SEVERAL - 1; i >= 0; i--)
		drain_to_end(p[i].a);
	for (int i = 0; i < SEVERAL; i++) {
		struct inbox in;
		inbox_init(&in);
		p[i].a->ops->close(p[i].a);
		p[i].a = NULL;
		assert_int_equal(receive_to_end(p[i].b, &in), -ESHUTDOWN);
		assert_int_equal(in.next, 1);
		inbox_fini(&in);
		pair_close(&p[i]);
	}
}

/* Messages that were not flushed are dropped; the peer need not wait for their sends, and their writes never were. */
void only_sends_are_counted(void **state)
{
	for (int first = 0; first < 2; first++) {
		struct ends e;
		struct inbox in;
		open_ends(&e, *state);
		struct zlink *a = e.pair.b; /* the end that writes */
		assert_int_equal(e.rma->expose(e.pair.a, ZLINK_RX, e.memory, SIZE, &e.exposure), 0);
		const struct zrma_op op = {.key = e.exposure.key,
			.local = e.staging,
			.len = 10,
			.region = e.region,
			.cookie = &e,
			.more = true};
		inbox_init(&in);
		for (uint64_t k = 0; k < 5; k++)
			assert_int_equal(post_message(a, k, 10), 0);
		assert_int_equal(a->ops->flush(a), 0);
		for (int i = 0; i < 2; i++)
			if (i == first)
				assert_int_equal(e.rma->write(a, &op), 0);
			else
				assert_int_equal(post_message(a, 5, 10), 0);
		assert_int_equal(((struct vlink *)(void *)a)->tx.list, 2);
		a->ops->close(a);
		e.pair.b = NULL;
		assert_int_equal(receive_to_end(e.pair.a, &in), -ESHUTDOWN);
		assert_int_equal(in.next, 5);
		inbox_fini(&in);
		e.rma->conceal(e.pair.a, &e.exposure);
		close_ends(&e);
	}
}

/* How long the ends of so many links take together. */
static int64_t close_ms(struct fixture *f, int n)
{
	struct pair p[SEVERAL];
	send_into_silence(f, p, n);
	const int64_t begin = zclock_ms();
	for (int i = 0; i < n; i++)
		assert_int_equal(p[i].a->ops->drain(p[i].a), -EAGAIN);
	for (int i = 0; i < n; i++) {
		p[i].a->ops->close(p[i].a);
		p[i].a = NULL;
	}
	const int64_t took = zclock_ms() - begin;
	silence(false);
	for (int i = 0; i < n; i++)
		pair_close(&p[i]);
	return took;
}

/* One after the other they would take four times as long. */
void a_silent_peer_is_not_waited_for_by_each(void **state)
{
	const int64_t one = close_ms(*state, 1), several = close_ms(*state, SEVERAL);
	if (several >= 2 * one)
		fail_msg("one link: %d ms, %d links: %d ms", (int)one, SEVERAL, (int)several);
}
