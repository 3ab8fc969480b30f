/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions and calls that fail while messages are under way. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"

/* --- faults under way --- */

/* Both ways until both ends have said why they are broken. Nobody polls for ever: a half with nothing to do sleeps. */
static void break_up(struct pair *p, int why[2])
{
	struct zlink *link[2] = {p->a, p->b};
	struct inbox in[2];
	uint64_t next[2] = {0, 0};
	why[0] = why[1] = 0;
	for (int i = 0; i < 2; i++)
		inbox_init(&in[i]);
	/* Time, not turns: a failure that may be a port's fault takes a second (vlink.c), which a quick machine fills
	 * with any number of turns. */
	const time_t end = time(NULL) + PATIENCE_MS / 1000;
	while (!why[0] || !why[1]) {
		assert_true(time(NULL) < end);
		for (int i = 0; i < 2; i++) {
			struct zsink sink = inbox_sink(&in[i]);
			uint8_t raw[ZWIRE_ENV_BYTES];
			size_t len = next[i] % 3 * 20000;
			if (why[i])
				continue;
			message_env(raw, next[i], len);
			int rc = link[i]->ops->post(link[i], raw, len ? payload_of(next[i], len) : NULL, len);
			next[i] += rc == 0;
			rc = rc == 0 || rc == -EAGAIN ? link[i]->ops->flush(link[i]) : rc;
			int n = link[i]->ops->poll(link[i], &sink, 4);
			if (in[i].wrong)
				fail_msg("end %d: %s", i, in[i].wrong);
			if (n < 0 && n != -EAGAIN) { /* and so it stays */
				why[i] = n;
				assert_true(link[i]->ops->poll(link[i], &sink, 1) < 0);
				assert_int_equal(link[i]->ops->arm(link[i], ZLINK_RX), 1);
			} else if (rc < 0 && rc != -EAGAIN) {
				why[i] = rc;
				assert_true(link[i]->ops->flush(link[i]) < 0);
			} else if (n == 0 && rc < 0) {
				sleep_on(link[i], ZLINK_TX, 1);
			}
			if (why[i]) {
				if (i == 0)
					p->a = NULL;
				else
					p->b = NULL;
				link[i]->ops->close(link[i]);
			}
		}
	}
	for (int i = 0; i < 2; i++)
		inbox_fini(&in[i]);
}

void every_failed_completion_ends_the_link(void **state)
{
	static const enum fake_point points[] = {FAKE_SEND, FAKE_RECV};
	for (size_t i = 0; i < 2; i++)
		for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_GENERAL_ERR; status++)
			for (uint32_t after = 0; after < 3; after++) {
				struct pair p;
				int why[2];
				if (status == IBV_WC_LOC_QP_OP_ERR && after)
					continue; /* takes its time */
				p = fixture_pair(*state);
				fault(points[i], status, after * 7);
				break_up(&p, why);
				assert_false(is_pending(points[i]));
			}
}

/* Everything has been sent, after the queue was full (blocked), or not. Message k is the next. */
static void go_idle(struct pair *p, struct inbox *in, bool blocked, uint64_t *k)
{
	while (blocked && post_message(p->a, *k, 5000) == 0)
		++*k;
	while (blocked && !p->a->ops->arm(p->a, ZLINK_TX) && in->next < *k) /* asleep, and woken up again */
		receive_until(p->b, in, in->next + 1);
	while (p->a->ops->flush(p->a) == -EAGAIN || (blocked && post_message(p->a, *k, 10) == -EAGAIN))
		receive_until(p->b, in, in->next + 1);
	*k += blocked; /* the message that was refused */
	assert_int_equal(p->a->ops->flush(p->a), 0);
	receive_until(p->b, in, *k);
}

/* A message is lost, and nobody has anything else to do: the sender's sleeping receive half learns it. down: the port
 * has gone, too, which is the better reason, whether its event has come or not. */
static void lose_message(struct pair *p, int status, bool blocked, bool down)
{
	struct inbox in, none;
	uint64_t k = 0;
	inbox_init(&in);
	inbox_init(&none);
	struct zsink sink = inbox_sink(&none);
	for (int i = 0; i < 20; i++, k++) { /* the peer's direction may stay with TCP */
		assert_int_equal(post_message(p->a, k, 10), 0);
		assert_int_equal(p->a->ops->flush(p->a), 0);
		receive_until(p->b, &in, k + 1);
		assert_int_equal(p->a->ops->poll(p->a, &sink, 1), 0);
	}
	go_idle(p, &in, blocked, &k);
	while (p->a->ops->poll(p->a, &sink, 1) == 0 && p->a->ops->arm(p->a, ZLINK_RX))
		;
	fault(FAKE_SEND, status, 0);
	assert_int_equal(post_message(p->a, k, 10), 0);
	if (down)
		device()->port[0].state = IBV_PORT_DOWN;
	assert_int_equal(p->a->ops->flush(p->a), 0);
	assert_false(is_pending(FAKE_SEND));
	const int why = status == IBV_WC_RETRY_EXC_ERR ? -ETIMEDOUT : -ENOLINK;
	assert_int_equal(receive_to_end(p->a, &none), down ? -ENETDOWN : why);
	device()->port[0].state = IBV_PORT_ACTIVE;
	inbox_fini(&in);
	inbox_fini(&none);
	pair_close(p);
}

void a_lost_message_wakes_its_sender(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct pair p = fixture_pair(*state);
		lose_message(&p, i & 1 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_LOC_QP_OP_ERR, i & 1, i & 2);
	}
}

/* Also an end to which nothing has come by a queue pair. */
void a_lost_message_wakes_who_only_sends(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 4; i++) {
		struct pair p = {.a = fixture_connect(f)};
		p.b = fixture_accept(f);
		fixture_settle(f, p.b);
		lose_message(&p, IBV_WC_RETRY_EXC_ERR, i & 1, i & 2);
	}
}

/* A half that cannot be told of the next message does not sleep, and that is all. hit: one of the calls here fails. */
static void stay_awake(struct pair *p, bool hit)
{
	struct inbox in;
	inbox_init(&in);
	for (uint64_t k = 0; k < 40; k++) {
		const bool pending = is_pending(FAKE_NOTIFY);
		const int rc = p->a->ops->arm(p->a, k % 2 ? ZLINK_RX : ZLINK_TX);
		if (pending && !is_pending(FAKE_NOTIFY))
			assert_int_equal(rc, 1);
		assert_int_equal(post_message(p->b, k, 10), 0);
		assert_int_equal(p->b->ops->flush(p->b), 0);
		receive_until(p->a, &in, k + 1);
	}
	assert_false(hit && is_pending(FAKE_NOTIFY));
	inbox_fini(&in);
	pair_close(p);
}

/* The sender was to be told of its next completion, whatever it is, when it left that to the receive half. The event is
 * of a message that went well; there is another event for the next one, which does not. */
void an_earlier_notice_hides_no_error(void **state)
{
	option("ZIPPER_VERBS_SIGNAL", "1");
	for (int raised = 0; raised < 2; raised++) {
		struct pair p = fixture_pair(*state);
		struct inbox in, none;
		uint64_t k = 0;
		inbox_init(&in);
		inbox_init(&none);
		struct zsink sink = inbox_sink(&none);
		for (; k < 20; k++) {
			assert_int_equal(post_message(p.a, k, 10), 0);
			assert_int_equal(p.a->ops->flush(p.a), 0);
			receive_until(p.b, &in, k + 1);
			assert_int_equal(p.a->ops->poll(p.a, &sink, 1), 0);
		}
		p.a->ops->arm(p.a, ZLINK_TX);
		if (!raised)
			assert_int_equal(p.a->ops->flush(p.a), 0);
		for (; k < 22; k++) {
			assert_int_equal(post_message(p.a, k, 10), 0);
			assert_int_equal(p.a->ops->flush(p.a), 0);
		}
		receive_until(p.b, &in, k);
		do /* until nothing wakes it any more */
			assert_int_equal(p.a->ops->poll(p.a, &sink, 1), 0);
		while (sleep_on(p.a, ZLINK_RX, 20));
		fault(FAKE_SEND, IBV_WC_RETRY_EXC_ERR, 0);
		assert_int_equal(post_message(p.a, k, 10), 0);
		assert_int_equal(p.a->ops->flush(p.a), 0);
		assert_int_equal(receive_to_end(p.a, &none), -ETIMEDOUT);
		inbox_fini(&in);
		inbox_fini(&none);
		pair_close(&p);
	}
	option("ZIPPER_VERBS_SIGNAL", NULL);
}

void every_refused_call_ends_the_link(void **state)
{
	static const struct {
		enum fake_point point;
		int code;
	} points[] = {{FAKE_POST, ENOMEM}, {FAKE_POST, EINVAL}, {FAKE_POLL, 1}, {FAKE_NOTIFY, EIO}};
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		for (uint32_t after = 0; after < 20; after++) {
			struct pair p = fixture_pair(*state);
			int why[2];
			fault(points[i].point, points[i].code, after);
			if (points[i].point == FAKE_NOTIFY)
				stay_awake(&p, after < 10);
			else
				break_up(&p, why);
			fault(points[i].point, 0, 0);
		}
}

/* For the one-sided operations of each end; exposures are taken back as far as that goes. */
void failed_operations_are_reported(void **state)
{
	static const enum fake_point points[] = {FAKE_READ, FAKE_WRITE};
	for (size_t i = 0; i < 2; i++)
		for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_GENERAL_ERR; status++) {
			struct ends e;
			const enum zlink_half half = points[i] == FAKE_READ ? ZLINK_RX : ZLINK_TX;
			open_ends(&e, *state);
			assert_int_equal(e.rma->expose(e.pair.a, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX, e.memory, SIZE,
						 &e.exposure),
				0);
			fault(points[i], status, 0);
			assert_true(operate(&e, half, 0, 100) < 0);
			assert_true(operate(&e, half, 0, 100) < 0);
			pair_close(&(struct pair){.b = e.pair.b});
			e.pair.b = NULL;
			e.rma->conceal(e.pair.a, &e.exposure);
			close_ends(&e);
		}
}

/* The device does not even take the request; or a list of requests, of which the first one seemed to be under way. */
void refused_operations_are_reported(void **state)
{
	for (int more = 0; more < 2; more++)
		for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
			struct ends e;
			open_ends(&e, *state);
			assert_int_equal(e.rma->expose(e.pair.a, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX, e.memory, SIZE,
						 &e.exposure),
				0);
			const struct zrma_op first = {.key = e.exposure.key,
				.local = e.staging,
				.len = 10,
				.region = e.region,
				.cookie = e.staging,
				.more = true};
			if (more && half == ZLINK_TX)
				assert_int_equal(e.rma->write(e.pair.b, &first), 0);
			fault(FAKE_POST, ENOMEM, 0);
			assert_true(operate(&e, (enum zlink_half)half, 0, 100) < 0);
			assert_false(is_pending(FAKE_POST));
			if (more && half == ZLINK_TX)
				assert_true(operate(&e, ZLINK_TX, 0, 100) < 0); /* the second of the two */
			e.rma->conceal(e.pair.a, &e.exposure);
			close_ends(&e);
		}
}

void windows_that_cannot_be_bound(void **state)
{
	if (!keeps())
		skip();
	for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_GENERAL_ERR; status++)
		for (int half = ZLINK_RX; half <= ZLINK_TX; half++)
			for (uint32_t after = 0; after < 2; after++) {
				struct ends e;
				int why[2];
				open_ends(&e, *state);
				fault(FAKE_LOCAL, status, after);
				int rc = e.rma->expose(e.pair.a, (enum zlink_half)half, e.memory, SIZE, &e.exposure);
				assert_int_equal(rc == 0, after == 1);
				if (rc == 0)
					e.rma->conceal(e.pair.a, &e.exposure);
				break_up(&e.pair, why);
				close_ends(&e);
			}
}

/* --- a peer that does not answer --- */

/* End a has sent something on this half that is not acknowledged: a message, or credit. Calls on this half end by
 * themselves, or the alarm ends the test. */
static void fall_silent(const struct ends *e, enum zlink_half half)
{
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	alarm(60);
	for (uint64_t k = 0; half == ZLINK_RX && post_message(e->pair.b, k, 10) == 0; k++)
		;
	assert_int_equal(e->pair.b->ops->flush(e->pair.b), 0);
	silence(true);
	if (half == ZLINK_RX)
		assert_true(e->pair.a->ops->poll(e->pair.a, &sink, 64) > 0);
	else
		assert_int_equal(post_message(e->pair.a, 0, 10), 0);
	assert_int_equal(e->pair.a->ops->flush(e->pair.a), 0);
	inbox_fini(&in);
}

static void expose(struct ends *e, enum zlink_half half)
{
	assert_int_equal(e->rma->expose(e->pair.a, half, e->memory, SIZE, &e->exposure), 0);
}

/* The memory is registered then; and has a window again when the device has been able to go on. */
void a_silent_peer_is_not_waited_for(void **state)
{
	const uint64_t *local = &fake_fabric()->operations[FAKE_LOCAL];
	if (!keeps())
		skip();
	for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
		struct ends e;
		open_ends(&e, *state);
		fall_silent(&e, (enum zlink_half)half);
		const uint64_t before = *local;
		for (int i = 0; i < 2; i++) {
			expose(&e, (enum zlink_half)half);
			e.rma->conceal(e.pair.a, &e.exposure);
		}
		expose(&e, (enum zlink_half)half);
		assert_int_equal(*local, before);
		silence(false);
		assert_int_equal(*local, before + 1);
		assert_int_equal(operate(&e, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX, 0, SIZE), 0);
		e.rma->conceal(e.pair.a, &e.exposure);
		assert_int_equal(*local, before + 1);
		expose(&e, (enum zlink_half)half);
		assert_int_equal(operate(&e, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX, 0, SIZE), 0);
		e.rma->conceal(e.pair.a, &e.exposure);
		assert_int_equal(*local, before + 3);
		alarm(0);
		close_ends(&e);
	}
}

void a_window_is_late_when_its_link_closes(void **state)
{
	if (!keeps())
		skip();
	for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
		struct ends e;
		open_ends(&e, *state);
		fall_silent(&e, (enum zlink_half)half);
		expose(&e, (enum zlink_half)half);
		e.rma->conceal(e.pair.a, &e.exposure);
		e.pair.b->ops->close(e.pair.b);
		e.pair.b = NULL;
		close_ends(&e);
		silence(false);
		alarm(0);
	}
}

/* An exposure is taken back, for which the device is waited for; nobody else looks at its port meanwhile. */
void a_window_of_a_silent_peer_goes_with_its_port(void **state)
{
	if (!keeps())
		skip();
	option("ZIPPER_VERBS_PORT_GRACE", "300ms");
	for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
		struct ends e;
		struct inbox in;
		open_ends(&e, *state);
		expose(&e, (enum zlink_half)half);
		fall_silent(&e, (enum zlink_half)half);
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		fake_lock(fake_fabric());
		fake_port_set(fake_fabric(), sock, 0, 1, false);
		fake_unlock(fake_fabric());
		close(sock);
		e.rma->conceal(e.pair.a, &e.exposure);
		inbox_init(&in);
		assert_int_equal(receive_to_end(e.pair.a, &in), -ENETDOWN);
		inbox_fini(&in);
		close_ends(&e);
		device()->port[0].state = IBV_PORT_ACTIVE;
		silence(false);
		alarm(0);
	}
	option("ZIPPER_VERBS_PORT_GRACE", NULL);
}

/* A caller that is about to close the link does not wait until the device has given the peer up. */
void a_window_of_a_silent_peer_is_given_up(void **state)
{
	if (!keeps())
		skip();
	for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
		struct ends e;
		open_ends(&e, *state);
		expose(&e, (enum zlink_half)half);
		fall_silent(&e, (enum zlink_half)half);
		const int64_t begin = zclock_ms();
		e.rma->give_up(e.pair.a, (enum zlink_half)half);
		e.rma->conceal(e.pair.a, &e.exposure);
		assert_true(zclock_ms() - begin < 5000);
		close_ends(&e);
		silence(false);
		alarm(0);
	}
}
