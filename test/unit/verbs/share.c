/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared resources of links go to links that use them: credit, and buffers for sending. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <poll.h>

#define MANY 12
#define SMALL ((size_t)40)    /* goes without a buffer */
#define MEDIUM ((size_t)2000) /* needs one */

struct stream {
	struct pair pair;
	struct inbox in;
	uint64_t sent;
};

static void open_streams(struct fixture *f, struct stream *s, int n)
{
	for (int i = 0; i < n; i++) {
		s[i] = (struct stream){.pair = fixture_pair(f)};
		inbox_init(&s[i].in);
	}
}

static void close_streams(struct fixture *f, struct stream *s, int n)
{
	for (int i = 0; i < n; i++) {
		inbox_fini(&s[i].in);
		pair_close(&s[i].pair);
	}
	f->ops->endpoint_close(f->endpoint);
	f->endpoint = NULL;
}

/* Sends as many messages as it may, up to so many, when all credit has come. Returns their number. */
static uint64_t send_up_to(struct stream *s, uint64_t most, size_t len)
{
	uint64_t n = 0;
	if (device()->lag_us)
		poll(NULL, 0, 1);
	while (n < most && post_message(s->pair.a, s->sent, len) == 0) {
		s->sent++;
		n++;
	}
	const int rc = s->pair.a->ops->flush(s->pair.a);
	assert_true(rc == 0 || rc == -EAGAIN);
	return n;
}

/* All messages come; then the receiver has nothing to do, and looks once more. */
static void receive_all(struct stream *s)
{
	struct zsink sink = inbox_sink(&s->in);
	while (s->pair.a->ops->flush(s->pair.a) == -EAGAIN)
		receive_until(s->pair.b, &s->in, s->in.next + 1);
	receive_until(s->pair.b, &s->in, s->sent);
	assert_int_equal(s->pair.b->ops->poll(s->pair.b, &sink, 1), 0);
}

static void stream(struct stream *s, int rounds, uint64_t at_once, size_t len)
{
	for (int i = 0; i < rounds; i++) {
		send_up_to(s, at_once, len);
		receive_all(s);
	}
}

/* Messages of credit for each hundred messages of data, one after the other. */
static uint64_t credit_per_cent(struct stream *s)
{
	const uint64_t *sends = &fake_fabric()->operations[FAKE_SEND], before = *sends;
	const int count = 400;
	stream(s, count, 1, SMALL);
	return (*sends - before - count) * 100 / count;
}

/* Links that have credit and do not use it: those that never did, and those that did as fast as they could. */
void credit_is_for_those_who_use_it(void **state)
{
	static struct stream s[MANY];
	struct stream *last = &s[MANY - 1];
	for (int busy = 0; busy < 2; busy++) {
		open_streams(*state, s, MANY);
		for (int i = 0; i < MANY - 1 && busy; i++)
			stream(&s[i], 20, UINT64_MAX, SMALL);
		stream(last, 20, UINT64_MAX, SMALL);
		const uint64_t ahead = send_up_to(last, UINT64_MAX, SMALL);
		receive_all(last);
		const uint64_t credit = credit_per_cent(last);
		if (ahead < 9 || credit > 15)
			fail_msg("%s others: %d ahead, %d %% messages of credit", busy ? "busy" : "idle", (int)ahead,
				(int)credit);
		close_streams(*state, s, MANY);
	}
}

/* A link that is alone has all that it may have; a link that no longer has much to send does not keep it. */
void credit_grows_and_shrinks(void **state)
{
	struct stream s;
	open_streams(*state, &s, 1);
	const struct vrx *rx = &((struct vlink *)(void *)s.pair.b)->rx;
	const uint32_t first = rx->limit - rx->consumed;
	assert_true(first <= 16);
	stream(&s, 20, UINT64_MAX, SMALL);
	assert_int_equal(send_up_to(&s, UINT64_MAX, SMALL), 64);
	receive_all(&s);
	assert_true(credit_per_cent(&s) <= 10);
	stream(&s, 400, 1, SMALL);
	assert_true(rx->limit - rx->consumed <= 16);
	assert_true(credit_per_cent(&s) <= 15);
	close_streams(*state, &s, 1);
}

/* Somebody waits for the message, and there is credit still. */
void messages_go_before_credit(void **state)
{
	const uint64_t *sends = &fake_fabric()->operations[FAKE_SEND];
	struct stream s;
	open_streams(*state, &s, 1);
	struct zsink sink = inbox_sink(&s.in);
	stream(&s, 20, UINT64_MAX, SMALL);
	assert_int_equal(send_up_to(&s, 20, SMALL), 20);
	const uint64_t before = *sends;
	if (device()->lag_us)
		poll(NULL, 0, 1);
	assert_int_equal(s.pair.b->ops->poll(s.pair.b, &sink, 20), 20);
	assert_int_equal(*sends, before);
	assert_int_equal(s.pair.b->ops->poll(s.pair.b, &sink, 20), 0);
	assert_int_equal(*sends, before + 1);
	/* a link that sends more than that must not wait for a pause of ours */
	assert_int_equal(send_up_to(&s, 40, SMALL), 40);
	if (device()->lag_us)
		poll(NULL, 0, 1);
	assert_int_equal(s.pair.b->ops->poll(s.pair.b, &sink, 40), 40);
	assert_int_equal(*sends, before + 1 + 40 + 1);
	/* nor where the receiver goes to sleep at once */
	assert_int_equal(send_up_to(&s, 20, SMALL), 20);
	if (device()->lag_us)
		poll(NULL, 0, 1);
	assert_int_equal(s.pair.b->ops->poll(s.pair.b, &sink, 20), 20);
	s.pair.b->ops->arm(s.pair.b, ZLINK_RX);
	assert_int_equal(*sends, before + 1 + 40 + 1 + 20 + 1);
	/* nor one message after the other, each of which somebody may wait for */
	stream(&s, 400, 1, SMALL);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(send_up_to(&s, 1, SMALL), 1);
		if (device()->lag_us)
			poll(NULL, 0, 1);
		const uint64_t sent = *sends;
		assert_int_equal(s.pair.b->ops->poll(s.pair.b, &sink, 20), 1);
		assert_int_equal(*sends, sent);
		assert_int_equal(s.pair.b->ops->poll(s.pair.b, &sink, 20), 0);
	}
	assert_true(credit_per_cent(&s) <= 9);
	close_streams(*state, &s, 1);
}

/* The first link: its connecting end has few buffers, the other end has as many as usual. */
static void open_with_few_to_send(struct fixture *f, struct stream *s)
{
	struct inbox none;
	inbox_init(&none);
	struct zsink sink = inbox_sink(&none);
	option("ZIPPER_VERBS_BUFFERS", "64");
	*s = (struct stream){.pair = {.a = fixture_connect(f)}};
	option("ZIPPER_VERBS_BUFFERS", NULL);
	s->pair.b = fixture_accept(f);
	fixture_settle(f, s->pair.b);
	inbox_init(&s->in);
	for (int i = 0; i < 20; i++) {
		stream(s, 1, 1, SMALL);
		assert_int_equal(s->pair.a->ops->poll(s->pair.a, &sink, 1), 0);
	}
	inbox_fini(&none);
}

/* As of the last look: more would be another look. */
static uint32_t credit_of(const struct stream *s)
{
	const struct vtx *tx = &((struct vlink *)(void *)s->pair.a)->tx;
	return tx->limit - tx->sent;
}

/* Sends that were acknowledged long ago hold no buffers, though nobody has looked at their links since. */
void buffers_are_for_those_who_send(void **state)
{
	static struct stream s[MANY];
	struct stream *last = &s[MANY - 1];
	open_with_few_to_send(*state, &s[0]);
	open_streams(*state, &s[1], MANY - 1);
	for (int i = 0; i < MANY; i++)
		stream(&s[i], 20, UINT64_MAX, SMALL); /* all have credit */
	for (int i = 0; i < MANY - 1; i++) {
		stream(&s[i], 1, 1, SMALL);
		stream(&s[i], 1, credit_of(&s[i]), MEDIUM);
	}
	stream(last, 1, 1, SMALL);
	const uint32_t credit = credit_of(last);
	const uint64_t n = send_up_to(last, credit, MEDIUM);
	if (n < 12 || n < credit)
		fail_msg("%d sends, with credit for %u", (int)n, credit);
	/* and links that close have left */
	pair_close(&s[0].pair);
	receive_all(last);
	stream(last, 5, UINT64_MAX, MEDIUM);
	close_streams(*state, s, MANY);
}
