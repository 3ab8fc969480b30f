/* SPDX-License-Identifier: BSD-3-Clause */
/* Many connections that do not prove who they are, at the real zipperd: which of them go for newer ones. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/session/session_io.h"
#include "common/transport/transports.h"
#include "test/unit/zipperd/job_fixture.h"
#include "zipperd/conn/address.h"

#define MANY 600
#define PATIENCE_MS 60000
#define SOON_MS 150   /* the age at which a stranger that says nothing may go, and more */
#define LATER_MS 1100 /* the same of a stranger that has said HELLO */

/* A connection from 127.0.0.HOST that says nothing. */
static int stand_there(const struct daemon_fixture *d, int host)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000000u + (uint32_t)host)};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(d->addr[0].port)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static bool is_closed(int fd)
{
	char byte[512];
	ssize_t n;
	while ((n = recv(fd, byte, sizeof(byte), MSG_DONTWAIT)) > 0) /* the reason */
		;
	return n == 0 || errno == ECONNRESET;
}

static int count_closed(const int *fd, int n)
{
	int closed = 0;
	for (int i = 0; i < n; i++)
		closed += is_closed(fd[i]);
	return closed;
}

/* Waits until so many of them are closed, and checks that no more are. */
static void assert_closed(const int *fd, int n, int expected)
{
	for (int64_t end = fixture_now_ms() + PATIENCE_MS; count_closed(fd, n) < expected && fixture_now_ms() < end;)
		fixture_nap(5);
	fixture_nap(50);
	assert_int_equal(count_closed(fd, n), expected);
}

static void close_all(const int *fd, int n)
{
	for (int i = 0; i < n; i++)
		close(fd[i]);
}

static void open_good(const struct daemon_fixture *d, struct zsession **s, const char *job)
{
	struct zsession_params p;
	struct zerr err;
	fixture_params(&p, &d->addr[0], job);
	assert_int_equal(zsession_open(s, &p, ZCTL_SERVICE_RANK, &err), 0);
}

static void an_address_has_a_share(void **state)
{
	struct daemon_fixture d;
	struct zsession *s;
	int other = 0, fd[12];
	(void)state;
	daemon_start(&d, TCP, "address_strangers=8");
	other = stand_there(&d, 2);
	for (int i = 0; i < 12; i++) {
		fd[i] = stand_there(&d, 3);
		fixture_nap(i == 7 ? SOON_MS : 0);
	}
	assert_closed(fd, 12, 4);
	assert_int_equal(count_closed(fd, 4), 4); /* the oldest ones */
	assert_false(is_closed(other));
	assert_true(daemon_logged(&d, "closed for a newer connection"));
	assert_true(daemon_logged(&d, "(address_strangers = 8)"));
	open_good(&d, &s, "j");
	zsession_close(s);
	close_all(fd, 12);
	close(other);
	assert_int_equal(daemon_stop(&d), 0);
}

static void the_address_with_most_makes_room(void **state)
{
	struct daemon_fixture d;
	struct zsession *s;
	int few[2], many[8], next[3];
	(void)state;
	daemon_start(&d, TCP, "max_strangers=10");
	for (int i = 0; i < 2; i++)
		few[i] = stand_there(&d, 2);
	for (int i = 0; i < 8; i++)
		many[i] = stand_there(&d, 3);
	fixture_nap(SOON_MS);
	for (int i = 0; i < 3; i++)
		next[i] = stand_there(&d, 4 + i);
	assert_closed(many, 8, 3);
	assert_int_equal(count_closed(many, 3), 3);
	assert_int_equal(count_closed(few, 2) + count_closed(next, 3), 0);
	assert_true(daemon_logged(&d, "(max_strangers = 10)"));
	open_good(&d, &s, "j");
	zsession_close(s);
	close_all(few, 2);
	close_all(many, 8);
	close_all(next, 3);
	assert_int_equal(daemon_stop(&d), 0);
}

/* A connection that says HELLO and nothing more. */
static struct zlink *say_hello(const struct daemon_fixture *d)
{
	struct zctl_msg msg = {.type = ZCTL_HELLO};
	struct zlink *z;
	struct zerr err;
	assert_int_equal(ztransport_tcp.connect(&z, &d->addr[0], RUN_MS, &err), 0);
	msg.u.hello.service = ZCTL_SERVICE_RANK;
	strcpy(msg.u.hello.user, FIXTURE_USER);
	strcpy(msg.u.hello.job, "j");
	assert_int_equal(zsession_io_send(z, &msg, fixture_now_ms() + PATIENCE_MS), 0);
	return z;
}

struct answer {
	int nchallenges, nerrors;
};

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct answer *a = ctx;
	struct zctl_msg msg;
	struct zerr err;
	(void)raw;
	assert_int_equal(zctl_decode(&msg, payload, env->len, &err), 0);
	a->nchallenges += msg.type == ZCTL_CHALLENGE;
	a->nerrors += msg.type == ZCTL_ERROR;
	if (msg.type == ZCTL_ERROR)
		assert_non_null(strstr(msg.u.error.text, "too many connections that have not proved who they are"));
	zctl_free(&msg);
	return 0;
}

static bool is_challenged(struct zlink *z, struct answer *a)
{
	const struct zsink sink = {.take = take, .ctx = a};
	for (int64_t end = fixture_now_ms() + PATIENCE_MS; a->nchallenges == 0 && fixture_now_ms() < end;)
		if (z->ops->poll(z, &sink, 4) == 0)
			fixture_nap(1);
	return a->nchallenges == 1;
}

/* A peer that has said HELLO is about to prove who it is. Peers that say nothing go before it, older or not. */
static void who_says_nothing_goes_first(void **state)
{
	struct daemon_fixture d;
	struct answer a[4];
	struct zlink *z[4];
	int fd[20];
	(void)state;
	memset(a, 0, sizeof(a));
	daemon_start(&d, TCP, "max_strangers=10 address_strangers=10");
	for (int i = 0; i < 4; i++) {
		z[i] = say_hello(&d);
		assert_true(is_challenged(z[i], &a[i]));
	}
	for (int i = 0; i < 20; i++)
		fd[i] = stand_there(&d, 1);
	assert_closed(fd, 20, 14);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(z[i]->ops->poll(z[i], &(struct zsink){.take = take, .ctx = &a[i]}, 4), 0);
		z[i]->ops->close(z[i]);
	}
	close_all(fd, 20);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Peers that say HELLO and no more have a second, and then go for others. */
static void who_says_no_more_goes_later(void **state)
{
	struct daemon_fixture d;
	struct answer a[4];
	struct zlink *z[4];
	struct zsession *s;
	int rc;
	(void)state;
	memset(a, 0, sizeof(a));
	daemon_start(&d, TCP, "max_strangers=4 address_strangers=4");
	for (int i = 0; i < 4; i++) {
		z[i] = say_hello(&d);
		assert_true(is_challenged(z[i], &a[i]));
	}
	fixture_nap(LATER_MS);
	open_good(&d, &s, "j");
	while ((rc = z[0]->ops->poll(z[0], &(struct zsink){.take = take, .ctx = &a[0]}, 4)) >= 0)
		fixture_nap(1);
	assert_int_equal(rc, -ESHUTDOWN);
	assert_int_equal(a[0].nerrors, 1);
	zsession_close(s);
	for (int i = 0; i < 4; i++)
		z[i]->ops->close(z[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Refused peers stay for a moment, to read why. They are strangers all the same, and the first to go. */
static void refused_peers_hold_no_places(void **state)
{
	struct daemon_fixture d;
	struct zsession_params p;
	struct zsession *s;
	struct zlink *z[40];
	(void)state;
	daemon_start(&d, TCP, "max_strangers=8 address_strangers=8");
	for (int i = 0; i < 40; i++) {
		struct zctl_msg msg = {.type = ZCTL_HELLO};
		struct zerr err;
		assert_int_equal(ztransport_tcp.connect(&z[i], &d.addr[0], RUN_MS, &err), 0);
		msg.u.hello.service = ZCTL_SERVICE_CAST; /* which zipperd refuses */
		zsession_io_send(z[i], &msg, fixture_now_ms() + PATIENCE_MS);
	}
	fixture_params(&p, &d.addr[0], "j");
	open_good(&d, &s, "j");
	zsession_close(s);
	for (int i = 0; i < 40; i++)
		z[i]->ops->close(z[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Ranks have all connections but those of strangers, who make room for more ranks. */
static void strangers_make_room_for_ranks(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	int fd[4];
	(void)state;
	daemon_start(&d, TCP, "max_connections=8 user_connections=8");
	for (int i = 0; i < 4; i++)
		fd[i] = stand_there(&d, 2);
	job_init(r, "j", d.addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_exchange(r, 4, 100);
	job_assert_good(r, 4);
	assert_closed(fd, 4, 4);
	job_bye(r, 4);
	close_all(fd, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void memory_goes_back(void **state)
{
	struct daemon_fixture d;
	int fd[MANY];
	(void)state;
	daemon_start(&d, TCP, "hello_timeout=1s");
	const long before = daemon_memory_now_kib(&d);
	for (int i = 0; i < MANY; i++)
		fd[i] = stand_there(&d, 2 + i % 4);
	assert_closed(fd, MANY, MANY);
	const long most = daemon_memory_kib(&d);
	print_message("memory: %ld KiB before, %ld KiB with %d strangers, %ld KiB now\n", before, most, MANY,
		daemon_memory_now_kib(&d));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep what was freed */
	for (int64_t end = fixture_now_ms() + PATIENCE_MS; daemon_memory_now_kib(&d) > before + (most - before) / 2;) {
		assert_true(fixture_now_ms() < end);
		fixture_nap(20);
	}
#endif
	close_all(fd, MANY);
	assert_int_equal(daemon_stop(&d), 0);
}

/* A data channel that asks for another zipperd and has no pass has proved nothing: it stays a stranger until it goes.
 */
static void a_wrong_pass_is_no_proof(void **state)
{
	struct daemon_fixture d;
	struct zlink *wrong[12];
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, "max_strangers=8");
	for (int i = 0; i < 12; i++) {
		struct zctl_msg hello = {.type = ZCTL_HELLO}, reach = {.type = ZCTL_REACH};
		const int64_t end = fixture_now_ms() + PATIENCE_MS;
		assert_int_equal(ztransport_tcp.connect(&wrong[i], &d.addr[0], RUN_MS, &err), 0);
		hello.u.hello.service = ZCTL_SERVICE_WAY;
		strcpy(hello.u.hello.user, FIXTURE_USER);
		strcpy(hello.u.hello.job, "j");
		strcpy(reach.u.reach.from, "a");
		strcpy(reach.u.reach.to, "b");
		strcpy(reach.u.reach.address, "tcp:127.0.0.1:1");
		assert_int_equal(zsession_io_send(wrong[i], &hello, end), 0);
		zsession_io_send(wrong[i], &reach, end); /* it may be closed already */
		fixture_nap(i == 7 ? SOON_MS : 0);
	}
	bool logged = false;
	for (int64_t end = fixture_now_ms() + PATIENCE_MS; !logged && fixture_now_ms() < end;) {
		logged = daemon_logged(&d, "closed for a newer connection");
		fixture_nap(5);
	}
	assert_true(logged);
	for (int i = 0; i < 12; i++)
		wrong[i]->ops->close(wrong[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

/* However they come, by many addresses and all at once, the newest one or another one goes beyond the limit. */
static void the_limit_holds(void **state)
{
	static struct stranger s[400];
	struct addresses *a;
	struct zerr err;
	int n = 0;
	(void)state;
	assert_int_equal(address_init(&a, 8, 8, &err), 0);
	for (int i = 0; i < 400; i++) {
		const int64_t now_ms = i * (i % 3 ? 1 : 40);
		const char *option;
		char peer[32];
		int64_t limit;
		snprintf(peer, sizeof(peer), "127.0.0.%d:1", i < 200 ? i / 9 : i / 5 % 7);
		if (!address_has_room(a, now_ms))
			continue;
		assert_int_equal(address_enter(a, &s[i], peer, now_ms), 0);
		n++;
		if (i % 4 == 1)
			address_note(&s[i], true);
		struct stranger *goes = address_surplus(&s[i], now_ms, &option, &limit);
		if (goes) {
			address_leave(goes);
			n--;
		}
		assert_true(n <= 8);
	}
	assert_true(n > 0);
	for (int i = 0; i < 400; i++)
		address_leave(&s[i]);
	address_fini(a);
}

/* Two of one address are old, and three of another one are new: an old one goes, though the other address has more. */
static void the_young_stay(void **state)
{
	struct stranger s[5];
	struct addresses *a;
	struct zerr err;
	const char *option;
	int64_t limit;
	(void)state;
	assert_int_equal(address_init(&a, 4, 4, &err), 0);
	for (int i = 0; i < 5; i++) {
		const int64_t now_ms = i < 2 ? 0 : SOON_MS;
		assert_true(address_has_room(a, now_ms));
		assert_int_equal(address_enter(a, &s[i], i < 2 ? "127.0.0.2:1" : "127.0.0.1:1", now_ms), 0);
	}
	assert_ptr_equal(address_surplus(&s[4], SOON_MS, &option, &limit), &s[0]);
	for (int i = 0; i < 5; i++)
		address_leave(&s[i]);
	address_fini(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_a_share),
		cmocka_unit_test(the_address_with_most_makes_room),
		cmocka_unit_test(who_says_nothing_goes_first),
		cmocka_unit_test(who_says_no_more_goes_later),
		cmocka_unit_test(refused_peers_hold_no_places),
		cmocka_unit_test(strangers_make_room_for_ranks),
		cmocka_unit_test(memory_goes_back),
		cmocka_unit_test(a_wrong_pass_is_no_proof),
		cmocka_unit_test(the_limit_holds),
		cmocka_unit_test(the_young_stay),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_strangers", tests, NULL, NULL);
}
