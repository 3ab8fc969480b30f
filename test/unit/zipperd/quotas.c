/* SPDX-License-Identifier: BSD-3-Clause */
/* Two users at the real zipperd: each limit of one of them, which does not concern the other. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"
#include "zipperd/conn/quota.h"

#define PATIENCE_MS 60000

/* Opens a session of either user. */
static int open_as(const struct daemon_fixture *d, bool other, const char *job, enum zctl_service service,
	struct zsession **s, struct zerr *err)
{
	struct zsession_params p;
	fixture_params(&p, d->addr, job);
	if (other)
		fixture_be_other(&p);
	return zsession_open(s, &p, service, err);
}

/* Creates a job of a and b with so many ranks each. NULL: err says why not. */
static struct zsession *create(const struct daemon_fixture *d, bool other, const char *job, uint32_t size,
	struct zerr *err)
{
	struct zctl_create c = {.parts = "a,b", .sizes = {size, size}, .join_timeout_ms = PATIENCE_MS};
	struct zsession *s;
	assert_int_equal(open_as(d, other, job, ZCTL_SERVICE_LAUNCHER, &s, err), 0);
	if (zsession_create(s, &c, err) == 0)
		return s;
	zsession_close(s);
	return NULL;
}

/* The same, once zipperd has noticed that something has ended. */
static struct zsession *create_soon(const struct daemon_fixture *d, const char *job, uint32_t size)
{
	struct zsession *s;
	struct zerr err;
	for (const int64_t end = fixture_now_ms() + PATIENCE_MS; !(s = create(d, false, job, size, &err));) {
		assert_true(fixture_now_ms() < end);
		fixture_nap(10);
	}
	return s;
}

static void init_other(struct fake_rank r[4], const struct daemon_fixture *d)
{
	job_init(r, "of-other", d->addr);
	for (int i = 0; i < 4; i++)
		r[i].other = true;
}

/* The other user's job does all its work. */
static void assert_other_works(const struct daemon_fixture *d)
{
	struct fake_rank r[4];
	init_other(r, d);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_exchange(r, 4, 100);
	job_assert_good(r, 4);
	job_bye(r, 4);
}

static void jobs(void **state)
{
	struct daemon_fixture d;
	struct zsession *s[3];
	struct fake_rank late;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, "max_jobs=12"); /* a quarter of them */
	for (int i = 0; i < 3; i++) {
		char job[] = {(char)('0' + i), '\0'};
		s[i] = create(&d, false, job, 1, &err);
		assert_non_null(s[i]);
	}
	assert_null(create(&d, false, "next", 1, &err));
	assert_non_null(strstr(err.text, "user tester has 3 jobs on this zipperd, which is the most (user_jobs)"));
	fake_init(&late, "by-hand", "a,b", "a", 0, 1, d.addr);
	fake_join_all(&late, 1);
	assert_true(late.rc < 0);
	assert_non_null(strstr(late.err.text, "(user_jobs)"));
	fake_kill(&late);
	assert_true(daemon_logged(&d, "refused: user tester has 3 jobs"));
	assert_other_works(&d);
	zsession_close(s[1]);
	s[1] = create_soon(&d, "next", 1);
	for (int i = 0; i < 3; i++)
		zsession_close(s[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

/* A job that is over is remembered for its late ranks. It gives its place to a new job, which is no refusal. */
static void over_gives_place(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zsession *s;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, "user_jobs=1 user_connections=7");
	job_init(r, "over", d.addr);
	fake_join_all(r, 4); /* may need 8 connections, so it is over at once */
	for (int i = 0; i < 4; i++)
		assert_non_null(strstr(r[i].err.text, "the job may need 8"));
	s = create(&d, false, "next", 1, &err);
	assert_non_null(s);
	assert_false(daemon_has_logged(&d, "refused: user tester has 1 jobs"));
	assert_null(create(&d, false, "third", 1, &err));
	assert_true(daemon_logged(&d, "refused: user tester has 1 jobs"));
	for (int i = 0; i < 4; i++)
		fake_kill(&r[i]);
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Connections that do nothing. A running job of the same user keeps what it was promised. */
static void connections(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zsession *s[20], *more;
	struct zerr err;
	int n = 0;
	(void)state;
	daemon_start(&d, TCP, "max_connections=40");
	job_init(r, "j", d.addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_exchange(r, 4, 10); /* 8 connections by now */
	while (n < 20 && open_as(&d, false, "idle", ZCTL_SERVICE_RANK, &s[n], &err) == 0)
		n++;
	assert_int_equal(n, 12);
	assert_non_null(strstr(err.text,
		"user tester has 20 connections on this zipperd, which is the most (user_connections)"));
	job_exchange(r, 4, 100);
	job_assert_good(r, 4);
	assert_other_works(&d);
	zsession_close(s[--n]);
	for (const int64_t end = fixture_now_ms() + PATIENCE_MS;
		open_as(&d, false, "idle", ZCTL_SERVICE_RANK, &more, &err) != 0;) {
		assert_true(fixture_now_ms() < end);
		fixture_nap(10);
	}
	zsession_close(more);
	while (n > 0)
		zsession_close(s[--n]);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

/* A job is refused at its start, and not in the middle, where others of its user may need the connections. */
static void promises(void **state)
{
	struct daemon_fixture d;
	struct zsession *first, *second;
	struct fake_rank r[4];
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, "user_connections=20");
	first = create(&d, false, "first", 3, &err); /* 1 + 6 * 2 */
	assert_non_null(first);
	assert_null(create(&d, false, "second", 2, &err)); /* 1 + 4 * 2 */
	assert_non_null(strstr(err.text,
		"user_connections of user tester is 20: the job may need 9, the user's other jobs 13; start it when"));
	job_init(r, "by-hand", d.addr);
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(r[i].rc < 0);
		assert_non_null(strstr(r[i].err.text, "user_connections of user tester is 20: the job may need 8"));
		fake_kill(&r[i]);
	}
	second = create(&d, true, "second", 3, &err);
	assert_non_null(second);
	zsession_close(first);
	first = create_soon(&d, "second", 2);
	zsession_close(first);
	zsession_close(second);
	assert_int_equal(daemon_stop(&d), 0);
}

static struct zsession *meet(const struct daemon_fixture *d, bool other, const char *name)
{
	struct zctl_meet m = {.from = "a", .to = "b"};
	struct zsession *s;
	struct zerr err;
	strcpy(m.name, name);
	assert_int_equal(open_as(d, other, "cast", ZCTL_SERVICE_CIRCUIT, &s, &err), 0);
	assert_int_equal(zsession_meet(s, &m, &err), 0);
	return s;
}

/* Waits for the next message. Its type, and in err the text of an ERROR. */
static uint16_t hear(struct zsession *s, struct zerr *err)
{
	struct zctl_msg msg;
	int rc;
	for (const int64_t end = fixture_now_ms() + PATIENCE_MS; (rc = zsession_poll(s, &msg, err)) == 0;) {
		assert_true(fixture_now_ms() < end);
		fixture_nap(1);
	}
	if (rc < 0)
		return 0;
	const uint16_t type = msg.type;
	if (type == ZCTL_ERROR)
		zerr_set(err, -1, "%s", msg.u.error.text);
	zctl_free(&msg);
	return type;
}

static void circuits(void **state)
{
	struct daemon_fixture d;
	struct zsession *s[3], *other;
	struct zerr err = {.text = ""};
	(void)state;
	daemon_start(&d, TCP, "user_circuits=2");
	s[0] = meet(&d, false, "0");
	s[1] = meet(&d, false, "1");
	s[2] = meet(&d, false, "2");
	hear(s[2], &err);
	assert_non_null(strstr(err.text, "user tester has 2 circuits that wait for their other end"));
	zsession_close(s[2]);
	other = meet(&d, true, "0");
	/* When one has met its other end there is room. */
	struct zctl_meet m = {.from = "b", .to = "a", .name = "0"};
	assert_int_equal(open_as(&d, false, "cast", ZCTL_SERVICE_CIRCUIT, &s[2], &err), 0);
	assert_int_equal(zsession_meet(s[2], &m, &err), 0);
	assert_int_equal(hear(s[2], &err), ZCTL_MET);
	zsession_close(s[2]);
	s[2] = meet(&d, false, "2");
	zsession_close(s[2]);
	for (int i = 0; i < 2; i++)
		zsession_close(s[i]);
	zsession_close(other);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Has one of the first two ranks been told to wait? */
static bool one_is_held(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].peer[2].held || r[0].peer[3].held || r[1].peer[2].held || r[1].peer[3].held;
}

/* Two ranks of a user have no channel yet, so messages to them wait at zipperd. They take that user's part of the
 * memory and no more, although dest_share would allow more than is sent. Another user does not notice, and in the end
 * nothing is lost. */
static void memory(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, "memory=64M dest_share=16M user_memory=1M");
	job_init(r, "j", d.addr);
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	for (int i = 0; i < 4; i++)
		r[i].max_len = 30000; /* FAKE_WINDOW of them: a megabyte from each rank to each rank */
	r[2].ignores_open = r[3].ignores_open = true;
	for (int i = 0; i < 2; i++)
		r[i].peer[2].goal = r[i].peer[3].goal = 300;
	assert_true(fake_run(r, 4, one_is_held, RUN_MS));
	assert_other_works(&d);
	for (int i = 2; i < 4; i++) {
		r[i].ignores_open = false;
		assert_int_equal(fake_attach(&r[i], 0), 0);
	}
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	job_assert_good(r, 4);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

/* --- the accounts alone --- */

static void shares_of_the_whole(void **state)
{
	struct settings c;
	struct quotas *q;
	struct zerr err;
	uint64_t promise = 0;
	(void)state;
	assert_int_equal(settings_init(&c, &err), 0);
	assert_int_equal(quota_init(&q, &err), 0);
	quota_configure(q, &c, false);
	struct user *u = quota_user(q, "a");
	assert_ptr_equal(u, quota_user(q, "a"));
	for (int i = 0; i < 64; i++)
		assert_int_equal(quota_take(u, QUOTA_JOBS, 0, &err), 0);
	assert_int_equal(quota_take(u, QUOTA_JOBS, 0, &err), -EDQUOT);
	assert_int_equal(quota_take(quota_user(q, "b"), QUOTA_JOBS, 0, &err), 0);
	assert_int_equal(quota_promise(u, &promise, 8192, 0, &err), 0);
	assert_int_equal(quota_promise(u, &promise, 8193, 0, &err), -EDQUOT);
	assert_int_equal(promise, 8192);
	assert_int_equal(atomic_load(&quota_memory(u)->limit), 128 << 20);
	/* One user alone has all of it. */
	quota_configure(q, &c, true);
	assert_int_equal(quota_take(u, QUOTA_JOBS, 0, &err), 0);
	assert_int_equal(quota_promise(u, &promise, 16384, 0, &err), 0);
	/* A limit that becomes lower takes nothing away that was promised. */
	c.user_connections = 1;
	quota_configure(q, &c, true);
	for (int i = 0; i < 16384; i++)
		assert_int_equal(quota_take_promised(u, 0, &err), 0);
	assert_int_equal(quota_take_promised(u, 0, &err), -EDQUOT);
	assert_int_equal(quota_promise(u, &promise, 4, 0, &err), 0);
	assert_int_equal(quota_promise(u, &promise, 5, 0, &err), -EDQUOT);
	quota_fini(q);
	settings_fini(&c);
}

static void memory_is_told_in_chunks(void **state)
{
	struct share share = {.used = 0, .limit = 2 * SHARE_CHUNK};
	struct share_user a = {.share = &share}, b = {.share = &share}, free_one = {.share = NULL};
	(void)state;
	share_add(&a, 100);
	share_add(&a, 200);
	assert_int_equal(atomic_load(&share.used), SHARE_CHUNK);
	assert_true(share_allows(&b, SHARE_CHUNK));
	share_add(&b, SHARE_CHUNK + 1);
	assert_int_equal(atomic_load(&share.used), 3 * SHARE_CHUNK);
	assert_false(share_allows(&a, 1));
	assert_true(share_allows(&free_one, 1u << 30));
	share_sub(&b, 1);
	assert_int_equal(atomic_load(&share.used), 3 * SHARE_CHUNK); /* a chunk is kept */
	share_sub(&b, SHARE_CHUNK);
	share_sub(&a, 100);
	assert_int_equal(atomic_load(&share.used), SHARE_CHUNK);
	share_sub(&a, 200);
	assert_int_equal(atomic_load(&share.used), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_the_whole),
		cmocka_unit_test(memory_is_told_in_chunks),
		cmocka_unit_test(jobs),
		cmocka_unit_test(over_gives_place),
		cmocka_unit_test(connections),
		cmocka_unit_test(promises),
		cmocka_unit_test(circuits),
		cmocka_unit_test(memory),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_quotas", tests, NULL, NULL);
}
