/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of every transport: messages of every size, back-pressure, refusing, placing, sleeping. */
#include "test/unit/common/link_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Sends one message until it has arrived; the receiver polls while the sender is full. */
static void pass(struct zlink *from, struct zlink *to, struct inbox *in, uint64_t k, size_t len)
{
	struct zsink sink = inbox_sink(in);
	int rc;
	while (post_message(from, k, len) == -EAGAIN)
		assert_true(to->ops->poll(to, &sink, 1) >= 0);
	while ((rc = from->ops->flush(from)) == -EAGAIN)
		assert_true(to->ops->poll(to, &sink, 1) >= 0);
	assert_int_equal(rc, 0);
	receive_until(to, in, k + 1);
}

static void every_size_arrives(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	size_t max = f->ops->max_payload;
	assert_true(max >= 64 * 1024 && max <= ZWIRE_MAX_PAYLOAD);
	for (int placed = 0; placed < 2; placed++) {
		struct inbox in, back;
		uint64_t k = 0;
		inbox_init(&in);
		inbox_init(&back);
		in.place_one_in = back.place_one_in = (uint32_t)placed;
		for (size_t len = 0; len < 300; len++, k++) {
			pass(p.a, p.b, &in, k, len);
			pass(p.b, p.a, &back, k, len);
		}
		for (size_t size = 512; size <= max; size *= 2)
			for (size_t d = 0; d < 3; d++, k++) {
				size_t len = size - 1 + d;
				len = len > max ? max : len;
				pass(p.a, p.b, &in, k, len);
				pass(p.b, p.a, &back, k, len);
			}
		assert_int_equal(in.placements, placed ? k - 1 : 0);
		inbox_fini(&in);
		inbox_fini(&back);
	}
	assert_int_equal(p.a->ops->post(p.a, payload_of(0, 0), payload_of(0, 0), max + 1), -EMSGSIZE);
	pair_close(&p);
}

/* Mostly small messages, some of every size. */
static size_t random_len(uint64_t k, size_t max)
{
	uint32_t r = mix(k ^ 0x5eed);
	if (r % 100 < 50)
		return (r >> 8) % 128;
	if (r % 100 < 99)
		return (r >> 8) % 4096;
	return (r >> 8) % (max + 1);
}

struct party { /* one half of a link, in its own thread */
	struct zlink *link;
	struct inbox in;
	uint64_t count;
	const char *wrong;
	atomic_bool may_begin; /* slow_reader */
};

static void *send_all(void *arg)
{
	struct party *me = arg;
	const struct ztransport *ops = me->link->ops;
	size_t max = ops->max_payload;
	uint8_t raw[ZWIRE_ENV_BYTES];
	for (uint64_t k = 0; k < me->count;) {
		size_t len = random_len(k, max);
		message_env(raw, k, len);
		int rc = ops->post(me->link, raw, payload_of(k, len), len);
		if (rc == 0 && (++k % 7 == 0 || k == me->count))
			rc = ops->flush(me->link);
		if (rc == -EAGAIN && !sleep_on(me->link, ZLINK_TX, PATIENCE_MS))
			me->wrong = "sender not woken";
		else if (rc < 0 && rc != -EAGAIN)
			me->wrong = strerror(-rc);
		if (me->wrong)
			return NULL;
	}
	int rc;
	while ((rc = ops->flush(me->link)) == -EAGAIN)
		if (!sleep_on(me->link, ZLINK_TX, PATIENCE_MS))
			break;
	if (rc < 0)
		me->wrong = "last flush";
	return NULL;
}

static void *receive_all(void *arg)
{
	struct party *me = arg;
	const struct ztransport *ops = me->link->ops;
	struct zsink sink = inbox_sink(&me->in);
	while (me->in.next < me->count) {
		int rc = ops->poll(me->link, &sink, 16);
		if (rc < 0 && rc != -EAGAIN)
			me->wrong = me->in.wrong ? me->in.wrong : strerror(-rc);
		if (rc == 0 && !sleep_on(me->link, ZLINK_RX, PATIENCE_MS))
			me->wrong = "receiver not woken";
		if (me->wrong)
			return NULL;
	}
	return NULL;
}

/* Both halves of a link in one thread, which sends and receives in turns, and sleeps where neither goes on. */
static void *send_and_receive(void *arg)
{
	struct party *me = arg;
	const struct ztransport *ops = me->link->ops;
	struct zsink sink = inbox_sink(&me->in);
	uint8_t raw[ZWIRE_ENV_BYTES];
	for (uint64_t k = 0; (me->in.next < me->count || k < me->count) && !me->wrong;) {
		const size_t len = random_len(k, ops->max_payload);
		int rc = -EAGAIN;
		message_env(raw, k, len);
		if (k < me->count)
			rc = ops->post(me->link, raw, payload_of(k, len), len);
		k += rc == 0;
		if (rc < 0 && rc != -EAGAIN)
			me->wrong = strerror(-rc);
		rc = ops->flush(me->link);
		if (rc < 0 && rc != -EAGAIN)
			me->wrong = strerror(-rc);
		const int n = ops->poll(me->link, &sink, 16);
		if (n < 0 && n != -EAGAIN)
			me->wrong = me->in.wrong ? me->in.wrong : strerror(-n);
		if (n == 0 && (k == me->count || rc == -EAGAIN))
			sleep_on(me->link, ZLINK_RX, 1);
	}
	for (int rc = -EAGAIN; rc == -EAGAIN && !me->wrong;) {
		rc = ops->flush(me->link);
		if (rc == -EAGAIN)
			sleep_on(me->link, ZLINK_TX, 1);
	}
	return NULL;
}

/* Each half has a thread of its own; halves with a common endpoint have one thread. */
static void random_messages_both_ways_in_threads(void **state)
{
	const uint64_t count = scaled(100000);
	struct fixture *f = *state;
	const bool alone = f->ops->settle && !f->kind->own;
	const int n = alone ? 2 : 4;
	struct pair p = fixture_pair(f);
	struct party parties[4];
	pthread_t threads[4];
	memset(parties, 0, sizeof(parties));
	for (int i = 0; i < n; i++) {
		parties[i].link = i < n / 2 ? p.a : p.b;
		parties[i].count = count;
		inbox_init(&parties[i].in);
		parties[i].in.place_one_in = 3;
		parties[i].in.refuse_one_in = 50;
		void *(*half)(void *) = i % 2 ? receive_all : send_all;
		assert_int_equal(pthread_create(&threads[i], NULL, alone ? send_and_receive : half, &parties[i]), 0);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < n; i++) {
		if (parties[i].wrong)
			fail_msg("party %d: %s", i, parties[i].wrong);
		if (alone || i % 2) {
			assert_int_equal(parties[i].in.next, count);
			assert_true(parties[i].in.placements > count / 5);
			assert_true(parties[i].in.refusals > count / 200);
		}
		inbox_fini(&parties[i].in);
	}
	pair_close(&p);
}

enum { LINKS = 3 };

/* Links of different threads share nothing of a transport where they have no common endpoint. */
static void links_in_threads_of_their_own(void **state)
{
	struct fixture *f = *state;
	const uint64_t count = scaled(20000);
	struct pair p[LINKS];
	struct party parties[2 * LINKS];
	pthread_t threads[2 * LINKS];
	if (f->ops->settle && !f->kind->own)
		return; /* they have one, and so one thread uses them */
	memset(parties, 0, sizeof(parties));
	for (int i = 0; i < 2 * LINKS; i++) {
		if (i % 2 == 0)
			p[i / 2] = fixture_pair(f);
		parties[i].link = i % 2 ? p[i / 2].b : p[i / 2].a;
		parties[i].count = count;
		inbox_init(&parties[i].in);
		parties[i].in.place_one_in = 3;
		parties[i].in.refuse_one_in = 50;
	}
	for (int i = 0; i < 2 * LINKS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, send_and_receive, &parties[i]), 0);
	for (int i = 0; i < 2 * LINKS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2 * LINKS; i++) {
		if (parties[i].wrong)
			fail_msg("party %d: %s", i, parties[i].wrong);
		assert_int_equal(parties[i].in.next, count);
		inbox_fini(&parties[i].in);
	}
	for (int i = 0; i < LINKS; i++)
		pair_close(&p[i]);
}

static void full_link_refuses_and_loses_nothing(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	static const size_t sizes[] = {0, 8, 5000, 130000, 1 << 20};
	struct inbox in;
	inbox_init(&in);
	uint64_t k = 0, total = 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t len = sizes[i] < f->ops->max_payload ? sizes[i] : f->ops->max_payload;
		uint64_t bytes = 0;
		int rc;
		/* Sockets buffer a few MiB in the kernel, and an empty message has 64 bytes: the number is bounded
		 * either way. */
		while ((rc = post_message(p.a, k, len)) == 0) {
			k++;
			bytes += ZWIRE_ENV_BYTES + len;
			assert_true(bytes < 64u << 20);
		}
		assert_int_equal(rc, -EAGAIN);
		/* A device or the kernel may free some room late, when it has moved bytes; a ring does not. */
		for (int j = 0; j < 200; j++)
			if ((rc = post_message(p.a, k, len)) == 0 && f->ops != &ztransport_shm) {
				k++;
				bytes += ZWIRE_ENV_BYTES + len;
			} else {
				assert_int_equal(rc, -EAGAIN);
			}
		rc = p.a->ops->flush(p.a);
		assert_true(rc == 0 || rc == -EAGAIN);
		/* The receiver takes all messages that were accepted; held ones follow by flush. */
		struct zsink sink = inbox_sink(&in);
		while (in.next < k) {
			int n = p.b->ops->poll(p.b, &sink, 16);
			assert_true(n >= 0);
			rc = p.a->ops->flush(p.a);
			assert_true(rc == 0 || rc == -EAGAIN);
			if (n == 0 && rc == 0 && in.next < k)
				assert_true(sleep_on(p.b, ZLINK_RX, PATIENCE_MS));
		}
		total += bytes;
	}
	assert_true(total > in.bytes);
	inbox_fini(&in);
	pair_close(&p);
}

/* The result of the receiver's poll, if it is not 0; up to that message, the link takes as many as it has room for. */
static int poll_while_posting(struct pair *p, const struct zsink *sink, uint64_t *posted, uint64_t end)
{
	int n = 0;
	while (n == 0) {
		while (*posted < end && post_message(p->a, *posted, 100 * (size_t)*posted) == 0)
			++*posted;
		p->a->ops->flush(p->a);
		n = p->b->ops->poll(p->b, sink, 1);
		if (n == 0)
			sleep_on(p->b, ZLINK_RX, 1);
	}
	return n;
}

static void refused_messages_come_again(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	inbox_init(&in);
	in.refuse_one_in = 1; /* each once */
	struct zsink sink = inbox_sink(&in);
	uint64_t posted = 0;
	for (uint64_t k = 0; k < 10; k++) {
		assert_int_equal(poll_while_posting(&p, &sink, &posted, 10), -EAGAIN);
		assert_int_equal(in.next, k);
		assert_int_equal(p.b->ops->arm(p.b, ZLINK_RX), 1);
		assert_int_equal(p.b->ops->poll(p.b, &sink, 1), 1);
	}
	assert_int_equal(in.refusals, 10);
	/* A budget is kept, and a refusal behind taken messages shows at the next poll only. */
	in.refuse_one_in = 0;
	assert_int_equal(poll_while_posting(&p, &sink, &posted, 20), 1);
	assert_int_equal(p.b->ops->poll(p.b, &sink, 0), 0);
	/* Messages that lack credit go when credit has come: nothing else need be on its way. */
	for (int ms = 0; p.a->ops->flush(p.a) == -EAGAIN && ms < PATIENCE_MS; ms++) {
		assert_true(p.b->ops->poll(p.b, &sink, 16) >= 0);
		usleep(1000);
	}
	receive_until(p.b, &in, posted);
	inbox_fini(&in);
	pair_close(&p);
}

static void place_is_asked_or_not(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	inbox_init(&in);
	in.place_one_in = 2;
	for (uint64_t k = 0; k < 500; k++)
		pass(p.a, p.b, &in, k, mix(k) % 7 ? mix(k) % 3000 : mix(k) % f->ops->max_payload);
	assert_true(in.placements > 150 && in.placements < 350);
	/* A sink need not place. */
	struct zsink sink = inbox_sink(&in);
	sink.place = NULL;
	assert_int_equal(post_message(p.a, 500, 200000), 0);
	while (in.next < 501) {
		assert_true(p.a->ops->flush(p.a) != -EPIPE);
		assert_true(p.b->ops->poll(p.b, &sink, 1) >= 0);
	}
	inbox_fini(&in);
	pair_close(&p);
}

/* Posts until a message has come in part and waits in the sink's place. k: the number of posts. false: there is no such
 * message, as buffers are as large as messages. */
static bool fill_to_the_middle(struct pair *p, struct inbox *in, uint64_t *k)
{
	const size_t len = p->a->ops->max_payload;
	struct zsink sink = inbox_sink(in);
	int n;
	for (int round = 0; round < 50; round++) {
		while (post_message(p->a, *k, len) == 0)
			++*k;
		while ((n = p->b->ops->poll(p->b, &sink, 1)) != 0 || (!in->placed && sleep_on(p->b, ZLINK_RX, 1)))
			assert_true(n >= 0);
		if (in->placed)
			return true;
		/* The link was full at the end of a message. */
		while (p->a->ops->flush(p->a) == -EAGAIN)
			assert_true(p->b->ops->poll(p->b, &sink, 1) >= 0);
		receive_until(p->b, in, *k);
	}
	return false;
}

/* The place is taken back, then the message comes whole. Returns the result of poll. */
static int poll_unplaced(struct pair *p, struct inbox *in)
{
	struct zsink sink = inbox_sink(in);
	int n;
	assert_int_equal(p->b->ops->unplace(p->b), 0);
	memset(in->memory, 0x55, p->a->ops->max_payload);
	in->placed = false;
	while ((n = p->b->ops->poll(p->b, &sink, 1)) == 0) {
		const int rc = p->a->ops->flush(p->a);
		assert_true(rc == 0 || rc == -EAGAIN);
		sleep_on(p->b, ZLINK_RX, 1);
	}
	return n;
}

/* Then it is a message as any other: it may be refused, and is placed anew when it comes again, if the sink likes. */
static void a_place_is_taken_back(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	if (!f->ops->unplace) {
		pair_close(&p);
		return;
	}
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	assert_int_equal(f->ops->unplace(p.b), 0); /* nothing is there */
	uint64_t k = 0;
	for (int i = 0; i < 3; i++) {
		in.refuse_one_in = 0;
		in.place_one_in = 1;
		if (!fill_to_the_middle(&p, &in, &k)) {
			assert_int_equal(f->ops->kind, ZADDR_VERBS);
			break;
		}
		const uint64_t next = in.next;
		if (i > 0) {
			in.refuse_one_in = 1;
			assert_int_equal(poll_unplaced(&p, &in), -EAGAIN);
			assert_int_equal(p.b->ops->arm(p.b, ZLINK_RX), 1);
			assert_int_equal(f->ops->unplace(p.b), 0); /* there is no message any more */
			in.place_one_in = i == 1;
			assert_int_equal(p.b->ops->poll(p.b, &sink, 1), 1);
		} else {
			assert_int_equal(poll_unplaced(&p, &in), 1);
		}
		if (in.wrong)
			fail_msg("%s", in.wrong);
		assert_int_equal(in.next, next + 1);
		in.refuse_one_in = 0;
		while (p.a->ops->flush(p.a) == -EAGAIN)
			assert_true(p.b->ops->poll(p.b, &sink, 1) >= 0);
		receive_until(p.b, &in, k);
	}
	inbox_fini(&in);
	pair_close(&p);
}

static void sinks_error_breaks_the_link(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	inbox_init(&in);
	for (uint64_t k = 0; k < 3; k++)
		assert_int_equal(post_message(p.a, k, 10), 0);
	assert_int_equal(p.a->ops->flush(p.a), 0);
	receive_until(p.b, &in, 3);
	assert_int_equal(post_message(p.a, 3, 10), 0);
	assert_int_equal(p.a->ops->flush(p.a), 0);
	in.fail_with = -EDOM;
	assert_int_equal(receive_to_end(p.b, &in), -EDOM);
	in.fail_with = 0;
	assert_int_equal(receive_to_end(p.b, &in), -EDOM);
	inbox_fini(&in);
	pair_close(&p);
}

/* A link may be full with few messages: then the receiver takes them. */
static void post_with_room(struct pair *p, struct inbox *in, uint64_t k, size_t len)
{
	while (post_message(p->a, k, len) == -EAGAIN) {
		p->a->ops->flush(p->a);
		receive_until(p->b, in, k);
	}
}

static void flush_sends_what_post_held(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	inbox_init(&in);
	assert_int_equal(p.a->ops->flush(p.a), 0);
	uint64_t k = 0;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i <= round; i++)
			post_with_room(&p, &in, k++, (size_t)round * 3);
		assert_int_equal(p.a->ops->flush(p.a), 0);
		assert_int_equal(p.a->ops->flush(p.a), 0);
		receive_until(p.b, &in, k);
	}
	inbox_fini(&in);
	pair_close(&p);
}

/* ---- sleeping ---- */

struct pinger {
	struct zlink *link;
	uint64_t count;
	bool first;
	const char *wrong;
};

static void dawdle(uint64_t k)
{
	for (uint32_t n = mix(k) % 4000; n > 0; n--)
		__asm__ __volatile__("");
}

/* No polling in between: each message must wake the other side. */
static void *ping(void *arg)
{
	struct pinger *me = arg;
	const struct ztransport *ops = me->link->ops;
	uint8_t raw[ZWIRE_ENV_BYTES];
	struct inbox in;
	memset(&in, 0, sizeof(in));
	struct zsink sink = inbox_sink(&in);
	sink.place = NULL;
	for (uint64_t k = 0; k < me->count && !me->wrong; k++) {
		if (k > 0 || !me->first)
			while (in.next <= k - me->first && !me->wrong) {
				int n = ops->poll(me->link, &sink, 4);
				if (n < 0)
					me->wrong = strerror(-n);
				else if (n == 0 && !sleep_on(me->link, ZLINK_RX, PATIENCE_MS))
					me->wrong =
						ops->poll(me->link, &sink, 4) ? "lost wake-up" : "no message has come";
			}
		dawdle(k * 2 + me->first);
		message_env(raw, k, 8);
		int rc = ops->post(me->link, raw, payload_of(k, 8), 8);
		if (rc >= 0)
			rc = ops->flush(me->link);
		if (rc < 0)
			me->wrong = strerror(-rc);
	}
	return NULL;
}

static void no_wake_up_of_a_receiver_is_lost(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct pinger a = {.link = p.a, .count = scaled(30000), .first = true};
	struct pinger b = {.link = p.b, .count = scaled(30000)};
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, ping, &a), 0);
	ping(&b);
	pthread_join(thread, NULL);
	if (a.wrong || b.wrong)
		fail_msg("%s", a.wrong ? a.wrong : b.wrong);
	pair_close(&p);
}

/* Begins when the sender has found the link full, or has sent everything. */
static void *slow_reader(void *arg)
{
	struct party *me = arg;
	struct zsink sink = inbox_sink(&me->in);
	while (!atomic_load(&me->may_begin))
		usleep(100);
	while (me->in.next < me->count) {
		int n = me->link->ops->poll(me->link, &sink, 4);
		dawdle(me->in.next);
		if (n < 0 && n != -EAGAIN)
			me->wrong = strerror(-n);
		if (n == 0 && !sleep_on(me->link, ZLINK_RX, PATIENCE_MS))
			me->wrong = "receiver not woken";
		if (me->wrong)
			break;
	}
	return NULL;
}

static void no_wake_up_of_a_sender_is_lost(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct party rx = {.link = p.b, .count = f->kind->warm ? scaled(3000) : 500 + scaled(2500)};
	pthread_t thread;
	uint64_t sleeps = 0;
	inbox_init(&rx.in);
	assert_int_equal(pthread_create(&thread, NULL, slow_reader, &rx), 0);
	for (uint64_t k = 0; k < rx.count;) {
		if (post_message(p.a, k, k % 3 ? mix(k) % 300000 : f->ops->max_payload) == 0) {
			k++;
			continue;
		}
		sleeps++;
		atomic_store(&rx.may_begin, true);
		if (!sleep_on(p.a, ZLINK_TX, PATIENCE_MS))
			fail_msg("sender of message %llu is not woken", (unsigned long long)k);
	}
	atomic_store(&rx.may_begin, true);
	int rc;
	while ((rc = p.a->ops->flush(p.a)) == -EAGAIN)
		assert_true(sleep_on(p.a, ZLINK_TX, PATIENCE_MS));
	assert_int_equal(rc, 0);
	pthread_join(thread, NULL);
	if (rx.wrong)
		fail_msg("%s", rx.wrong);
	/* the receiver may be as quick as the sender there, once they have changed over to queue pairs */
	assert_true(sleeps > 0 || f->ops->kind == ZADDR_VERBS);
	inbox_fini(&rx.in);
	pair_close(&p);
}

static void an_idle_half_sleeps(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	pass(p.a, p.b, &in, 0, 10);
	in.next = 0;
	pass(p.b, p.a, &in, 0, 10);
	for (int i = 0; i < 4; i++) {
		/* the first credit wakes a half over Verbs */
		const bool first = i == 0 && f->ops->kind == ZADDR_VERBS;
		assert_int_equal(p.a->ops->poll(p.a, &sink, 4), 0);
		assert_true(!sleep_on(p.a, ZLINK_RX, 10) || first);
		assert_int_equal(p.b->ops->poll(p.b, &sink, 4), 0);
		assert_true(!sleep_on(p.b, ZLINK_RX, 10) || first);
	}
	uint64_t k = 1;
	while (post_message(p.a, k, 50000) == 0)
		k++;
	/* The link is full and nobody reads: the sender sleeps. Bytes that the kernel takes meanwhile may wake it a few
	 * times. */
	int woken = 0;
	while (woken < 100 && sleep_on(p.a, ZLINK_TX, 30))
		while (woken++, post_message(p.a, k, 50000) == 0)
			k++;
	assert_true(woken < 100);
	inbox_fini(&in);
	pair_close(&p);
}

const struct link_test transport_message_tests[] = {
	LINK_TEST(every_size_arrives),
	LINK_TEST(random_messages_both_ways_in_threads),
	LINK_TEST(links_in_threads_of_their_own),
	LINK_TEST(full_link_refuses_and_loses_nothing),
	LINK_TEST(refused_messages_come_again),
	LINK_TEST(place_is_asked_or_not),
	LINK_TEST(a_place_is_taken_back),
	LINK_TEST(sinks_error_breaks_the_link),
	LINK_TEST(flush_sends_what_post_held),
	LINK_TEST(no_wake_up_of_a_receiver_is_lost),
	LINK_TEST(no_wake_up_of_a_sender_is_lost),
	LINK_TEST(an_idle_half_sleeps),
	{NULL, NULL},
};
