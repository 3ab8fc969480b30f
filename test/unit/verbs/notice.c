/* SPDX-License-Identifier: BSD-3-Clause */
/* Losses that are noticed without a poll: messages lost after all else was done, and threads that never sleep. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Messages from a to b, until they go by queue pairs. Message k is the next. */
static void warm_up(struct pair *p, struct inbox *in, uint64_t *k)
{
	inbox_init(in);
	for (; *k < 20; ++*k) {
		assert_int_equal(post_message(p->a, *k, 10), 0);
		assert_int_equal(p->a->ops->flush(p->a), 0);
		receive_until(p->b, in, *k + 1);
	}
	assert_int_equal(((struct vlink *)(void *)p->a)->tx.mode, VMODE_QUEUE);
}

/* Messages under way are lost now. */
static void lose(int status)
{
	fault(FAKE_SEND, status, 0);
	silence(false);
	assert_false(is_pending(FAKE_SEND));
}

/* The receive half of a, which gets no messages, sleeps, and is told that messages under way are lost. Everything ends.
 */
static void sleep_and_hear(struct pair *p, struct inbox *in, struct inbox *none)
{
	struct zsink to_a = inbox_sink(none);
	while (p->a->ops->poll(p->a, &to_a, 1) == 0 && p->a->ops->arm(p->a, ZLINK_RX))
		;
	lose(IBV_WC_RETRY_EXC_ERR);
	assert_int_equal(receive_to_end(p->a, none), -ETIMEDOUT);
	inbox_fini(in);
	inbox_fini(none);
	pair_close(p);
}

/* A message goes in parts, and its sender sleeps before it can send the last ones, which nobody notices. There is
 * nothing more to send then, and the receive half finds the loss. */
void the_end_of_a_message_is_lost(void **state)
{
	struct pair p = fixture_pair(*state);
	const struct vtx *tx = &((struct vlink *)(void *)p.a)->tx;
	struct inbox in, none;
	uint64_t k = 0;
	int rc;
	warm_up(&p, &in, &k);
	inbox_init(&none);
	struct zsink to_b = inbox_sink(&in);
	while (tx->rest_at == tx->rest_len) { /* a larger one each time, until there is not enough credit */
		assert_int_equal(post_message(p.a, k, (size_t)(k - 19) * 50000), 0);
		if ((rc = p.a->ops->flush(p.a)) == 0)
			receive_until(p.b, &in, k + 1);
		k++;
	}
	assert_int_equal(rc, -EAGAIN);
	for (;;) {
		p.a->ops->arm(p.a, ZLINK_TX);
		silence(true); /* for sends from now on */
		rc = p.a->ops->flush(p.a);
		if (rc == 0)
			break;
		assert_int_equal(rc, -EAGAIN);
		silence(false);
		assert_true(p.b->ops->poll(p.b, &to_b, 1) >= 0);
	}
	sleep_and_hear(&p, &in, &none);
}

/* A flush does not say that everything has gone where it knows better, though not yet why: the device refuses it, or
 * says of earlier sends that the port is the reason, whose event may yet come. */
void a_flush_that_knows_better(void **state)
{
	for (int refused = 0; refused < 2; refused++) {
		struct pair p = fixture_pair(*state);
		struct inbox in;
		uint64_t k = 0;
		int rc;
		warm_up(&p, &in, &k);
		if (refused) {
			fault(FAKE_POST, ENOMEM, 0);
			assert_int_equal(post_message(p.a, k, 10), 0);
		} else {
			silence(true);
			assert_int_equal(post_message(p.a, k, 10), 0);
			assert_int_equal(p.a->ops->flush(p.a), 0);
			p.a->ops->arm(p.a, ZLINK_TX);
			lose(IBV_WC_LOC_QP_OP_ERR);
		}
		while ((rc = p.a->ops->flush(p.a)) == -EAGAIN)
			sleep_on(p.a, ZLINK_TX, PATIENCE_MS);
		assert_int_equal(rc, refused ? -EIO : -ENOLINK);
		assert_false(is_pending(FAKE_POST));
		inbox_fini(&in);
		pair_close(&p);
	}
}

/* A message was refused, and is not wanted any more, which a flush says: earlier sends are lost then. */
void what_was_refused_is_not_wanted_any_more(void **state)
{
	struct pair p = fixture_pair(*state);
	struct inbox in, none;
	uint64_t k = 0;
	warm_up(&p, &in, &k);
	inbox_init(&none);
	silence(true);
	while (post_message(p.a, k, 10) == 0)
		k++;
	while (p.a->ops->arm(p.a, ZLINK_TX))
		;
	assert_int_equal(p.a->ops->flush(p.a), 0);
	sleep_and_hear(&p, &in, &none);
}

/* A message of credit is lost while its sender is about to sleep. */
void an_error_is_found_on_the_way_to_sleep(void **state)
{
	struct pair p = fixture_pair(*state);
	struct inbox in;
	uint64_t k = 0;
	bool lost = false;
	warm_up(&p, &in, &k);
	struct zsink to_b = inbox_sink(&in);
	for (; !lost && k < 200; k++) {
		assert_int_equal(post_message(p.a, k, 10), 0);
		assert_int_equal(p.a->ops->flush(p.a), 0);
		receive_until(p.b, &in, k + 1);
		fault(FAKE_SEND, IBV_WC_RETRY_EXC_ERR, 0);
		assert_int_equal(p.b->ops->poll(p.b, &to_b, 1), 0);
		lost = !is_pending(FAKE_SEND);
		fault(FAKE_SEND, 0, 0);
	}
	assert_true(lost);
	assert_true(sleep_on(p.b, ZLINK_RX, PATIENCE_MS));
	assert_int_equal(receive_to_end(p.b, &in), -ETIMEDOUT);
	inbox_fini(&in);
	pair_close(&p);
}

/* --- nothing comes behind a loss --- */

/* The device refuses one send of a list: those behind it, and later ones, do not come either. */
void nothing_comes_behind_a_refused_send(void **state)
{
	option("ZIPPER_VERBS_POST_LIST", "2");
	struct pair p = fixture_pair(*state);
	struct inbox in;
	uint8_t raw[ZWIRE_ENV_BYTES];
	uint64_t k = 0;
	int rc = 0;
	warm_up(&p, &in, &k);
	const uint64_t before = k;
	fault(FAKE_POST, ENOMEM, 1);
	for (; k < before + 4 && rc == 0; k++) {
		message_env(raw, k, 10);
		rc = p.a->ops->post(p.a, raw, payload_of(k, 10), 10);
	}
	while ((rc = p.a->ops->flush(p.a)) == -EAGAIN)
		;
	assert_int_equal(rc, -EIO);
	assert_false(is_pending(FAKE_POST));
	p.a->ops->close(p.a);
	p.a = NULL;
	rc = receive_to_end(p.b, &in); /* which looks at the order */
	assert_true(rc < 0 && rc != -ESHUTDOWN);
	assert_int_equal(in.next, before + 1);
	inbox_fini(&in);
	pair_close(&p);
	option("ZIPPER_VERBS_POST_LIST", NULL);
}

/* The completion queue fails for once, and with it the completions that it has shown. */
void nothing_comes_behind_what_was_not_shown(void **state)
{
	struct pair p = fixture_pair(*state);
	struct inbox in;
	uint64_t k = 0;
	warm_up(&p, &in, &k);
	struct zsink to_b = inbox_sink(&in);
	assert_int_equal(p.b->ops->poll(p.b, &to_b, 1), 0);
	const uint64_t before = k;
	for (; k < before + 4; k++)
		assert_int_equal(post_message(p.a, k, 10), 0);
	assert_int_equal(p.a->ops->flush(p.a), 0);
	if (device()->lag_us)
		poll(NULL, 0, 1); /* all are visible */
	fault(FAKE_POLL, EIO, 2);
	const int rc = receive_to_end(p.b, &in);
	assert_int_equal(rc, -EIO);
	inbox_fini(&in);
	pair_close(&p);
}

/* --- threads that poll and never sleep --- */

static int poll_to_end(struct zlink *link, struct inbox *in)
{
	const time_t end = time(NULL) + PATIENCE_MS / 1000;
	struct zsink sink = inbox_sink(in);
	int n;
	while ((n = link->ops->poll(link, &sink, 1)) >= 0)
		assert_true(time(NULL) < end);
	return n;
}

static void device_goes(int sock)
{
	fake_device_gone(fake_fabric(), sock, 0, 0);
}

static void port_goes(int sock)
{
	fake_port_set(fake_fabric(), sock, 0, 1, false);
}

void events_are_seen_without_sleep(void **state)
{
	static const struct {
		void (*happens)(int sock);
		int why;
	} events[] = {{device_goes, -ENODEV}, {port_goes, -ENETDOWN}};
	option("ZIPPER_VERBS_PORT_GRACE", "100ms");
	for (int i = 0; i < 2; i++) {
		struct pair p = fixture_pair(*state);
		struct inbox in;
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		inbox_init(&in);
		fake_lock(fake_fabric());
		events[i].happens(sock);
		fake_unlock(fake_fabric());
		close(sock);
		assert_int_equal(poll_to_end(p.a, &in), events[i].why);
		assert_int_equal(poll_to_end(p.b, &in), events[i].why);
		inbox_fini(&in);
		pair_close(&p);
	}
	option("ZIPPER_VERBS_PORT_GRACE", NULL);
}

/* By an end to which messages come by a queue pair, or still over TCP. */
void a_lost_message_is_seen_without_sleep(void **state)
{
	struct fixture *f = *state;
	for (int warm = 0; warm < 2; warm++) {
		struct pair p = {.a = NULL};
		struct inbox in, none;
		uint64_t k = 0;
		if (warm) {
			p = fixture_pair(f);
		} else {
			p.a = fixture_connect(f);
			p.b = fixture_accept(f);
			fixture_settle(f, p.b);
			struct zsink sink;
			inbox_init(&none);
			sink = inbox_sink(&none);
			while (!vlink_is_ready((struct vlink *)(void *)p.a))
				assert_int_equal(p.a->ops->poll(p.a, &sink, 1), 0);
			inbox_fini(&none);
		}
		warm_up(&p, &in, &k);
		inbox_init(&none);
		silence(true);
		assert_int_equal(post_message(p.a, k, 10), 0);
		assert_int_equal(p.a->ops->flush(p.a), 0);
		lose(IBV_WC_RETRY_EXC_ERR);
		assert_int_equal(poll_to_end(p.a, &none), -ETIMEDOUT);
		inbox_fini(&in);
		inbox_fini(&none);
		pair_close(&p);
	}
}
