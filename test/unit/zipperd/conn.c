/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of zipperd's control thread over a link of the test's own: messages wait while it is full. Memory goes
 * back when most of many connections have gone. */
#include <errno.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "zipperd/control/loop.h"
#include "zipperd/conn/capacity.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/control/hear.h"

struct fake_link {
	struct zlink base;
	int fd[2]; /* by half */
	bool full, closed;
	int posts;
};

static int fake_post(struct zlink *z, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct fake_link *l = (struct fake_link *)z;
	(void)env;
	(void)payload;
	(void)len;
	l->posts += !l->full;
	return l->full ? -EAGAIN : 0;
}

static int fake_flush(struct zlink *z)
{
	return ((struct fake_link *)z)->full ? -EAGAIN : 0;
}

static int fake_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	(void)z;
	(void)sink;
	(void)budget;
	return 0;
}

static int fake_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	*events = EPOLLIN;
	return ((const struct fake_link *)z)->fd[half];
}

static int fake_arm(struct zlink *z, enum zlink_half half)
{
	return half == ZLINK_TX && !((struct fake_link *)z)->full;
}

static void fake_close(struct zlink *z)
{
	((struct fake_link *)z)->closed = true;
}

static const struct ztransport fake = {
	.name = "fake",
	.post = fake_post,
	.flush = fake_flush,
	.poll = fake_poll,
	.fd = fake_fd,
	.arm = fake_arm,
	.close = fake_close,
};

static void start(struct daemon *d, struct fake_link *l)
{
	struct zerr err;
	memset(d, 0, sizeof(*d));
	assert_int_equal(settings_init(&d->settings, &err), 0);
	assert_int_equal(loop_init(d, &err), 0);
	*l = (struct fake_link){.base.ops = &fake};
	for (int i = 0; i < 2; i++)
		l->fd[i] = eventfd(0, EFD_CLOEXEC);
}

static void halt(struct daemon *d, struct fake_link *l)
{
	hear_close_all(d);
	assert_int_equal(d->nconnections, 0);
	loop_fini(d);
	settings_fini(&d->settings);
	for (int i = 0; i < 2; i++)
		close(l->fd[i]);
}

/* Handles what epoll tells now, as a turn of the loop does. Returns the number of events. */
static int look(struct daemon *d)
{
	struct epoll_event ev[4];
	int n = epoll_wait(d->epoll, ev, 4, 0);
	for (int i = 0; i < n; i++) {
		struct watch *w = ev[i].data.ptr;
		w->ready(w);
	}
	hear_continue_all(d);
	return n;
}

static void what_waits_goes_when_there_is_room(void **state)
{
	struct daemon d;
	struct fake_link l;
	struct conn *conn;
	struct zerr err;
	eventfd_t ignored;
	(void)state;
	start(&d, &l);
	assert_int_equal(conn_create(&conn, &d, NULL, &l.base, hear_ready, &err), 0);
	hear_continue_all(&d);
	eventfd_write(l.fd[ZLINK_TX], 1); /* of no interest */
	assert_int_equal(look(&d), 0);
	eventfd_read(l.fd[ZLINK_TX], &ignored);
	for (int i = 1; i <= 3; i++) {
		l.full = true;
		conn_send(conn, &(struct zctl_msg){.type = ZCTL_PING});
		assert_int_equal(look(&d), 0);
		l.full = false;
		eventfd_write(l.fd[ZLINK_TX], 1);
		assert_int_equal(look(&d), 1);
		assert_int_equal(l.posts, i);
		assert_int_equal(look(&d), 0); /* room is of no interest any more */
		eventfd_read(l.fd[ZLINK_TX], &ignored);
	}
	halt(&d, &l);
}

/* The kernel bounds the number of watched descriptors. A connection that cannot be watched is refused at once: once its
 * link was full it could not be told anything, and would wait for its world for ever. */
static void what_cannot_be_watched_is_refused(void **state)
{
	struct daemon d;
	struct fake_link l;
	struct conn *made;
	struct zerr err = {.text = ""};
	FILE *file = tmpfile(); /* cannot be in an epoll set; stands for all errors */
	(void)state;
	assert_non_null(file);
	for (int half = 0; half < 2; half++) {
		start(&d, &l);
		int fd = l.fd[half];
		l.fd[half] = fileno(file);
		assert_int_equal(conn_create(&made, &d, NULL, &l.base, hear_ready, &err), -EPERM);
		assert_true(l.closed);
		assert_string_equal(err.text, strerror(EPERM));
		l.fd[half] = fd;
		halt(&d, &l);
	}
	fclose(file);
}

static int trims;

/* Takes the place of libc's. */
int malloc_trim(size_t pad)
{
	(void)pad;
	trims++;
	return 1;
}

static void memory_goes_with_most_of_many_connections(void **state)
{
	/* connections, and how often memory has been given back by then */
	static const int steps[][2] = {{255, 0}, {10, 0}, {1000, 0}, {251, 0}, {250, 1}, {249, 1}, {70, 1}, {0, 1},
		{256, 1}, {64, 2}, {300, 2}, {0, 3}};
	struct daemon d;
	(void)state;
	memset(&d, 0, sizeof(d));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		d.nconnections = steps[i][0];
		capacity_trim(&d);
		if (trims != steps[i][1])
			fail_msg("step %zu: given back %d times, not %d", i, trims, steps[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_goes_with_most_of_many_connections),
		cmocka_unit_test(what_waits_goes_when_there_is_room),
		cmocka_unit_test(what_cannot_be_watched_is_refused),
	};
	return cmocka_run_group_tests_name("connections of the control thread", tests, NULL, NULL);
}
