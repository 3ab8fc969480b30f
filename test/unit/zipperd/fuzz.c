/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonsense at zipperd's port: random, cut and damaged streams, from strangers and from ranks with a good key. Each
 * costs its own connection, and a job that runs meanwhile notices nothing. ZIP_SEED repeats a run. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/common/corpus.h"
#include "test/unit/zipperd/daemon_fixture.h"
#include "test/unit/within.h"

#define STREAMS 400
#define STREAM_MAX 4096

static struct daemon_fixture zd;
static struct fake_rank job[2];
static uint64_t goal;
static int64_t start_ms;

static int connect_raw(const struct zaddr *a)
{
	union {
		struct sockaddr any;
		struct sockaddr_in in;
		struct sockaddr_un un;
	} to = {.any.sa_family = AF_UNSPEC};
	socklen_t len;
	if (a->kind == ZADDR_TCP) {
		to.in.sin_family = AF_INET;
		to.in.sin_port = htons(a->port);
		to.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		len = sizeof(to.in);
	} else {
		to.un.sun_family = AF_UNIX;
		snprintf(to.un.sun_path, sizeof(to.un.sun_path), "%.100s", a->host);
		len = sizeof(to.un);
	}
	int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	if (connect(fd, &to.any, len) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static void throw_at(const struct zaddr *a, const uint8_t *bytes, size_t len)
{
	int fd = connect_raw(a);
	assert_true(fd >= 0);
	(void)!send(fd, bytes, len, MSG_NOSIGNAL);
	close(fd);
}

/* The job does its work, and a new job can start. */
static void assert_works(void)
{
	goal += 20;
	job[0].peer[1].goal = job[1].peer[0].goal = goal;
	assert_true(fake_run(job, 2, fake_all_taken, 30000));
	assert_int_equal(job[0].bad + job[1].bad, 0);
}

static size_t put_message(uint8_t *at, const struct zctl_msg *msg)
{
	struct zwire_env env = {.kind = ZWIRE_CTRL, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY};
	int len = zctl_encode(at + ZWIRE_ENV_BYTES, STREAM_MAX / 2, msg);
	assert_true(len > 0);
	env.len = (uint32_t)len;
	zwire_encode(at, &env);
	return ZWIRE_ENV_BYTES + (size_t)len;
}

/* The beginning of a connection: HELLO and one more message. */
static size_t make_stream(uint8_t *buf)
{
	struct zctl_msg hello = {.type = ZCTL_HELLO}, next = {.type = ZCTL_PROOF};
	hello.u.hello.service = (uint8_t)(1 + rand() % 4);
	strcpy(hello.u.hello.user, FIXTURE_USER);
	strcpy(hello.u.hello.job, "j");
	if (hello.u.hello.service == ZCTL_SERVICE_DATA) {
		next.type = ZCTL_ATTACH;
		next.u.attach.vrank = (uint32_t)rand() % 3;
		next.u.attach.part = (uint32_t)rand() % 3;
		next.u.attach.endpoint = (uint32_t)rand() % 2;
		if (rand() % 2)
			zauth_module.ticket(next.u.attach.ticket, job[next.u.attach.vrank % 2].key, ZAUTH_CHANNEL,
				&next.u.attach);
	}
	size_t n = put_message(buf, &hello);
	return n + put_message(buf + n, &next);
}

static void seed(void)
{
	unsigned s = getenv("ZIP_SEED") ? (unsigned)strtoul(getenv("ZIP_SEED"), NULL, 0) : (unsigned)time(NULL);
	print_message("# ZIP_SEED=%u\n", s);
	srand(s);
}

static void strangers(void **state)
{
	uint8_t buf[STREAM_MAX];
	(void)state;
	for (int i = 0; i < STREAMS; i++) {
		const struct zaddr *a = &zd.addr[i % 2];
		size_t len = (size_t)rand() % STREAM_MAX;
		if (i % 4 < 2) { /* noise, or noise behind a good envelope */
			for (size_t k = 0; k < len; k++)
				buf[k] = (uint8_t)rand();
			struct zwire_env env = {.kind = ZWIRE_CTRL, .len = (uint32_t)rand() % (ZWIRE_MAX_PAYLOAD + 1)};
			if (i % 4 == 1)
				zwire_encode(buf, &env);
		} else { /* a good beginning, damaged or cut */
			len = make_stream(buf);
			for (int n = i % 4 == 2 ? 1 + rand() % 4 : 0; n > 0; n--)
				buf[(size_t)rand() % len] = (uint8_t)rand();
			if (i % 4 == 3)
				len = (size_t)rand() % len;
		}
		throw_at(a, buf, len);
		if (i % 50 == 0)
			assert_works();
	}
	assert_works();
}

static int from_corpus;
static void throw_corpus(const char *text, size_t len)
{
	throw_at(&zd.addr[from_corpus++ % 2], (const uint8_t *)text, len);
	if (from_corpus % 500 == 0)
		assert_works();
}

static void corpus(void **state)
{
	(void)state;
	assert_true(corpus_replay("streams", throw_corpus) >= 5);
	assert_works();
}

/* Ranks with a good key that break the rules. */
static void known_peers(void **state)
{
	uint8_t raw[ZWIRE_ENV_BYTES], buf[512];
	(void)state;
	static const enum zctl_service service[] = {ZCTL_SERVICE_LAUNCHER, ZCTL_SERVICE_RANK, ZCTL_SERVICE_RANK,
		ZCTL_SERVICE_CIRCUIT};
	for (int i = 0; i < 80; i++) {
		struct zsession_params p;
		struct zsession *s;
		struct zerr err;
		char name[16];
		snprintf(name, sizeof(name), "bad%d", i);
		fixture_params(&p, &zd.addr[i % 2], name);
		assert_int_equal(zsession_open(&s, &p, service[i % 4], &err), 0);
		struct zlink *link = *(struct zlink **)(void *)s; /* the first member */
		struct zwire_env env = {.kind = ZWIRE_CTRL, .len = 2 + (uint32_t)rand() % 500};
		for (size_t k = 0; k < sizeof(buf); k++)
			buf[k] = (uint8_t)rand();
		buf[0] = (uint8_t)(1 + i % ZCTL_MET); /* some type */
		buf[1] = 0;
		if (i % 7 == 0)
			env.kind = (uint8_t)(1 + rand() % ZWIRE_KIND_MAX);
		zwire_encode(raw, &env);
		link->ops->post(link, raw, buf, env.len);
		link->ops->flush(link);
		zsession_close(s);
	}
	assert_works();
}

/* Ranks of a job whose lists of receivers are noise, or nearly good. That job ends, or no rank gets anything. */
static void noisy_lists(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++) {
		struct fake_rank bad[2];
		char name[16];
		snprintf(name, sizeof(name), "list%d", i);
		fake_init(&bad[0], name, "a,b", "a", 0, 1, &zd.addr[i % 2]);
		fake_init(&bad[1], name, "a,b", "b", 0, 1, &zd.addr[i % 2]);
		fake_join_all(bad, 2);
		assert_int_equal(bad[0].rc + bad[1].rc, 0);
		assert_int_equal(fake_attach(&bad[0], 1), 0);
		for (int k = 0; k < 5; k++) {
			uint8_t list[8 * ZWIRE_RECEIVER_BYTES];
			struct zwire_env head = {.kind = ZWIRE_RECEIVERS, .dst = ZWIRE_NOBODY},
					 env = {.kind = (uint8_t)(1 + rand() % ZWIRE_KIND_MAX), .dst = ZWIRE_NOBODY};
			head.len = ZWIRE_RECEIVER_BYTES * (uint32_t)(1 + rand() % 8) - (rand() % 8 == 0);
			for (uint32_t at = 0; at < sizeof(list); at += ZWIRE_RECEIVER_BYTES) {
				struct zwire_receiver r = {.dst = 1 - (rand() % 32 == 0), .seq = (uint64_t)rand() % 4};
				zwire_put_receiver(list + at, &r);
			}
			if (rand() % 4 == 0)
				list[(size_t)rand() % sizeof(list)] = (uint8_t)rand();
			if (fake_post(&bad[0], 1, &head, list) == 0)
				fake_post(&bad[0], 1, &env, NULL);
		}
		fake_kill(&bad[0]);
		fake_kill(&bad[1]);
	}
	assert_works();
}

static void many_idle_strangers(void **state)
{
	int fd[600];
	(void)state;
	/* max_connections is 400, half of them for strangers; further ones wait in the kernel until some are thrown out
	 */
	for (int i = 0; i < 600; i++)
		fd[i] = connect_raw(&zd.addr[0]);
	assert_works();
	struct fake_rank late;
	fake_init(&late, "late", "a,b", "a", 0, 1, &zd.addr[0]);
	/* It gets as far as JOIN, and waits for a part that does not come. Behind strangers that stay it would hear
	 * nothing. */
	fake_join_all(&late, 1);
	assert_int_equal(late.rc, -ECANCELED);
	fake_kill(&late);
	for (int i = 0; i < 600; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	assert_works();
}

/* So much nonsense must not fill the disk with the log: two lines a second, and the lines about jobs. */
static void log_stays_short(void **state)
{
	char path[96], line[1024];
	int lines = 0;
	(void)state;
	snprintf(path, sizeof(path), "%s/log", zd.dir);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		lines++;
	fclose(f);
	assert_true(lines > 5);
	assert_within(lines, 6, 250 + 2 * (fixture_now_ms() - start_ms) / 1000);
}

static int setup(void **state)
{
	(void)state;
	seed();
	start_ms = fixture_now_ms();
	daemon_start(&zd, "a,b=tcp:127.0.0.1:0 a,b=shm:%d/sock",
		"max_connections=400 hello_timeout=2s join_timeout=4s");
	fake_init(&job[0], "j", "a,b", "a", 0, 1, &zd.addr[0]);
	fake_init(&job[1], "j", "a,b", "b", 0, 1, &zd.addr[1]);
	fake_join_all(job, 2);
	return job[0].rc != 0 || job[1].rc != 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_bye(&job[0]);
	fake_bye(&job[1]);
	return daemon_stop(&zd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers),
		cmocka_unit_test(corpus),
		cmocka_unit_test(known_peers),
		cmocka_unit_test(noisy_lists),
		cmocka_unit_test(many_idle_strangers),
		cmocka_unit_test(log_stays_short),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_fuzz", tests, setup, teardown);
}
