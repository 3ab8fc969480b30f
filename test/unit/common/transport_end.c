/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of every transport: how a link ends, and bytes that are no message. */
#include "test/unit/common/link_fixture.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* drained: by a caller that does not wait. */
static void close_after_everything(void **state, bool drained)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	inbox_init(&in);
	uint64_t count = 0;
	while (count < 100 && post_message(p.a, count, 300) == 0)
		count++;
	assert_true(
		count == 100 || (f->kind->warm && count > 2)); /* a link without a socket's buffers is full sooner */
	assert_int_equal(p.a->ops->flush(p.a), 0);
	/* Unread messages at the closing side must not destroy the messages that it has sent. */
	assert_int_equal(post_message(p.b, 0, 1000), 0);
	assert_int_equal(p.b->ops->flush(p.b), 0);
	const time_t end = time(NULL) + PATIENCE_MS / 1000;
	for (int rc = -EAGAIN; drained && p.a->ops->drain && rc != 0;) {
		assert_true(time(NULL) < end);
		rc = p.a->ops->drain(p.a);
		assert_true(rc == 0 || rc == -EAGAIN);
	}
	p.a->ops->close(p.a);
	p.a = NULL;
	assert_int_equal(receive_to_end(p.b, &in), -ESHUTDOWN);
	assert_int_equal(in.next, count);
	assert_int_equal(receive_to_end(p.b, &in), -ESHUTDOWN);
	assert_int_equal(p.b->ops->arm(p.b, ZLINK_RX), 1);
	inbox_fini(&in);
	pair_close(&p);
}

static void close_comes_after_everything(void **state)
{
	close_after_everything(state, false);
}

static void drained_ones_end_likewise(void **state)
{
	close_after_everything(state, true);
}

static void sleeping_halves_notice_the_end(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	uint64_t k = 0;
	while (post_message(p.b, k, 100000) == 0)
		k++;
	assert_int_equal(p.b->ops->poll(p.b, &sink, 1), 0);
	assert_int_equal(p.b->ops->arm(p.b, ZLINK_RX), 0);
	uint32_t events;
	struct pollfd rx = {.fd = p.b->ops->fd(p.b, ZLINK_RX, &events), .events = POLLIN};
	assert_int_equal(poll(&rx, 1, 0), 0);
	/* A sender may find a little more room by and by (see above); then the link is full. */
	while (sleep_on(p.b, ZLINK_TX, 50))
		while (post_message(p.b, k, 100000) == 0)
			k++;
	p.a->ops->close(p.a);
	p.a = NULL;
	assert_int_equal(poll(&rx, 1, PATIENCE_MS), 1);
	assert_true(sleep_on(p.b, ZLINK_TX, PATIENCE_MS));
	int rc = 0;
	uint8_t raw[ZWIRE_ENV_BYTES];
	message_env(raw, k, 10);
	for (int i = 0; i < 1000 && (rc == 0 || rc == -EAGAIN); i++)
		rc = p.b->ops->post(p.b, raw, payload_of(k, 10), 10);
	assert_true(rc == -EPIPE || rc == -ECONNRESET);
	rc = receive_to_end(p.b, &in);
	assert_true(rc == -ESHUTDOWN || rc == -ECONNRESET);
	inbox_fini(&in);
	pair_close(&p);
}

static void posting_to_nobody_ends(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	uint8_t raw[ZWIRE_ENV_BYTES];
	p.b->ops->close(p.b);
	p.b = NULL;
	message_env(raw, 0, 1000);
	int rc = 0;
	for (int i = 0; i < 100000 && (rc == 0 || rc == -EAGAIN); i++) {
		rc = p.a->ops->post(p.a, raw, payload_of(0, 1000), 1000);
		if (rc == 0)
			rc = p.a->ops->flush(p.a);
	}
	assert_true(rc == -EPIPE || rc == -ECONNRESET);
	assert_int_equal(p.a->ops->arm(p.a, ZLINK_TX), 1);
	pair_close(&p);
}

/* Posts until its peer has gone. */
static void send_for_ever(struct fixture *f)
{
	struct zlink *link;
	if (f->ops->connect(&link, &f->addr, PATIENCE_MS, NULL) < 0)
		return;
	fixture_seal(f, link, true);
	for (uint64_t k = 0;;) {
		size_t len = k % 10 ? mix(k) % 1000 : f->ops->max_payload;
		uint8_t raw[ZWIRE_ENV_BYTES];
		message_env(raw, k, len);
		int rc = link->ops->post(link, raw, payload_of(k, len), len);
		if (rc == 0)
			k++;
		else if (rc != -EAGAIN || !sleep_on(link, ZLINK_TX, PATIENCE_MS))
			return;
	}
}

static void killed_peer_is_noticed(void **state)
{
	struct fixture *f = *state;
	for (int round = 0; round < 10; round++) {
		pid_t pid = fork();
		if (pid == 0) {
			send_for_ever(f);
			_exit(1);
		}
		assert_true(pid > 0);
		struct zlink *link = fixture_accept(f);
		fixture_settle(f, link);
		struct inbox in;
		inbox_init(&in);
		in.place_one_in = 2;
		receive_until(link, &in, 16 * (uint64_t)round);
		struct timespec pause = {0, (long)(mix((uint64_t)round) % 3000000)};
		nanosleep(&pause, NULL);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		int rc = receive_to_end(link, &in);
		assert_true(rc == -ECONNRESET || rc == -ESHUTDOWN);
		link->ops->close(link);
		inbox_fini(&in);
	}
}

/* A child of this process has all descriptors, too, and keeps them. */
static void close_beside_a_child(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct inbox in;
	inbox_init(&in);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(2 * PATIENCE_MS / 1000); /* in case the test fails */
		pause();
		_exit(1);
	}
	assert_true(pid > 0);
	assert_int_equal(post_message(p.a, 0, 1000), 0);
	assert_int_equal(p.a->ops->flush(p.a), 0);
	p.a->ops->close(p.a);
	p.a = NULL;
	int rc = receive_to_end(p.b, &in);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(rc, -ESHUTDOWN);
	assert_int_equal(in.next, 1);
	inbox_fini(&in);
	pair_close(&p);
}

/* The raw bytes of a stream, for transports whose bytes any client can send. */
static int poll_raw(struct fixture *f, const void *bytes, size_t len, uint64_t expected)
{
	int fd = f->kind->connect_raw(&f->addr);
	struct zlink *link = fixture_accept(f);
	assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
	shutdown(fd, SHUT_WR);
	struct inbox in;
	inbox_init(&in);
	in.place_one_in = (uint32_t)(len % 2);
	int rc = receive_to_end(link, &in);
	assert_true(in.next == expected);
	inbox_fini(&in);
	link->ops->close(link);
	close(fd);
	return rc;
}

static void garbage_is_refused(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[5000];
	for (int seed = 0; seed < 50; seed++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)mix((uint64_t)seed * 10007 + i);
		bytes[0] = (uint8_t)(seed + 2); /* not a version */
		assert_int_equal(poll_raw(f, bytes, sizeof(bytes), 0), f->kind->seal ? -EBADMSG : -EPROTO);
	}
}

static void stream_errors_are_told_apart(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[4 * ZWIRE_ENV_BYTES + 30000];
	message_env(bytes, 0, 0);
	message_env(bytes + 64, 1, 30000);
	memcpy(bytes + 128, payload_of(1, 30000), 30000);
	message_env(bytes + 30128, 2, 64);
	memcpy(bytes + 30192, payload_of(2, 64), 64);
	assert_int_equal(poll_raw(f, bytes, 30256, 3), -ESHUTDOWN);
	assert_int_equal(poll_raw(f, bytes, 1, 0), -ECONNRESET);
	assert_int_equal(poll_raw(f, bytes, 63, 0), -ECONNRESET);
	assert_int_equal(poll_raw(f, bytes, 64, 1), -ESHUTDOWN);
	assert_int_equal(poll_raw(f, bytes, 128, 1), -ECONNRESET);
	assert_int_equal(poll_raw(f, bytes, 30127, 1), -ECONNRESET);
	assert_int_equal(poll_raw(f, bytes, 30128, 2), -ESHUTDOWN);
	assert_int_equal(poll_raw(f, bytes, 30255, 2), -ECONNRESET);
	struct zwire_env env = {.kind = ZWIRE_EAGER, .len = ZWIRE_MAX_PAYLOAD + 1};
	zwire_encode(bytes + 64, &env);
	assert_int_equal(poll_raw(f, bytes, 200, 1), -EPROTO);
	memset(bytes + 64 + 28, 0xff, 4);
	assert_int_equal(poll_raw(f, bytes, 201, 1), -EPROTO);
}

#define TEST(name)                                                                                                     \
	{                                                                                                              \
#name, name                                                                                            \
	}

const struct link_test transport_end_tests[] = {
	LINK_TEST(close_comes_after_everything),
	LINK_TEST(drained_ones_end_likewise),
	LINK_TEST(sleeping_halves_notice_the_end),
	LINK_TEST(posting_to_nobody_ends),
	LINK_TEST(killed_peer_is_noticed),
	LINK_TEST(close_beside_a_child),
	LINK_TEST(garbage_is_refused),
	{NULL, NULL},
};

/* Only where the bytes of a link are a stream; unit/common/shm.c does the same for memory. */
const struct link_test transport_stream_tests[] = {
	LINK_TEST(stream_errors_are_told_apart),
	{NULL, NULL},
};
