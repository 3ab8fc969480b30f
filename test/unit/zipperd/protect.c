/* SPDX-License-Identifier: BSD-3-Clause */
/* Protected networks: what zipperd and its peers agree on, connections that offer less, and hops between zipperds. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/session/session_attach.h"
#include "common/session/session_io.h"
#include "test/unit/zipperd/job_fixture.h"

#define RANKS 2

static void assert_says(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("'%s' does not say '%s'", text, what);
}

/* A session of a rank. words: behind the address, as in a hostfile. */
static int open_one(const struct daemon_fixture *d, const char *words, struct zsession **s, struct zerr *err)
{
	struct zsession_params p;
	char text[400];
	size_t n;
	struct zaddr plain = d->addr[0];
	plain.seal = 0;
	zaddr_format(&plain, text, sizeof(text));
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, "%s", words);
	fixture_params(&p, &plain, "j");
	assert_int_equal(zaddr_parse(&p.zipper, text, err), 0);
	return zsession_open(s, &p, ZCTL_SERVICE_RANK, err);
}

/* Both ends may ask, and the one that asks for more is heeded. */
static void the_more_careful_end_decides(void **state)
{
	static const char *const words[] = {"", "/integrity=yes", "/encrypt=yes"};
	(void)state;
	for (int there = 0; there < ZSEAL_LEVELS; there++) {
		struct daemon_fixture d;
		char listen[100];
		snprintf(listen, sizeof(listen), "a=tcp:127.0.0.1:0%s b=tcp:127.0.0.1:0", words[there]);
		daemon_start(&d, listen, NULL);
		for (int here = 0; here < ZSEAL_LEVELS; here++) {
			struct zsession *s;
			struct zerr err = {""};
			if (open_one(&d, words[here], &s, &err) != 0)
				fail_msg("%s", err.text);
			assert_int_equal(zsession_seal(s), here > there ? here : there);
			zsession_close(s);
		}
		assert_int_equal(daemon_stop(&d), 0);
	}
}

static void start_job(struct daemon_fixture *d, struct fake_rank *r, const char *words)
{
	char listen[100];
	snprintf(listen, sizeof(listen), "a=tcp:127.0.0.1:0%s b=tcp:127.0.0.1:0%s", words, words);
	daemon_start(d, listen, NULL);
	for (int i = 0; i < RANKS; i++) {
		fake_init(&r[i], "j", "a,b", i ? "b" : "a", 0, 1, &d->addr[i]);
		r[i].max_len = 30000;
	}
	fake_join_all(r, RANKS);
	job_assert_joined(r, RANKS);
}

static void a_job_talks(void **state)
{
	static const char *const words[] = {"/integrity=yes", "/encrypt=yes"};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct daemon_fixture d;
		struct fake_rank r[RANKS];
		start_job(&d, r, words[i]);
		assert_int_equal(r[0].seal, ZSEAL_INTEGRITY + i);
		r[0].peer[1].goal = r[1].peer[0].goal = 500;
		assert_true(fake_run(r, RANKS, fake_all_taken, RUN_MS));
		job_assert_good(r, RANKS);
		assert_null(r[0].link[1]->ops->seal); /* it is sealed */
		fake_bye(&r[0]);
		fake_bye(&r[1]);
		assert_int_equal(daemon_stop(&d), 0);
	}
}

/* A rank asks for less than its session has. */
static void no_channel_has_less(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[RANKS];
	char reason[ZCTL_TEXT_MAX + 1] = "";
	(void)state;
	start_job(&d, r, "/encrypt=yes");
	const struct zctl_attach a = {.vrank = r[0].world.vrank, .part = 1};
	struct zsession_way way = fake_way(&r[0]);
	struct zlink *z;
	way.seal = ZSEAL_NONE;
	assert_int_equal(zsession_attach_to(&z, &way, &a, NULL, RUN_MS, &r[0].err), 0);
	fixture_read_reason(z, reason);
	assert_says(reason, "its connections are protected, and this one is not as the one before it was");
	z->ops->close(z);
	assert_true(daemon_logged(&d, "listen says encrypt=yes"));
	fake_bye(&r[0]);
	fake_bye(&r[1]);
	assert_int_equal(daemon_stop(&d), 0);
}

/* A peer that says it comes inside of another connection, and does not. */
static void nobody_comes_inside_of_nothing(void **state)
{
	struct daemon_fixture d;
	struct zsession s = {.timeout_ms = RUN_MS};
	struct zctl_msg hello = {.type = ZCTL_HELLO}, in;
	struct zerr err = {""};
	(void)state;
	daemon_start(&d, "a=tcp:127.0.0.1:0/integrity=yes b=tcp:127.0.0.1:0", NULL);
	s.tail = &s.head;
	assert_int_equal(zsession_io_connect(&s.link, &d.addr[0], NULL, false, RUN_MS, s.where, sizeof(s.where), &err),
		0);
	hello.u.hello.service = ZCTL_SERVICE_RANK;
	hello.u.hello.seal = ZSEAL_INSIDE;
	strcpy(hello.u.hello.user, FIXTURE_USER);
	strcpy(hello.u.hello.job, "j");
	assert_int_equal(zsession_io_request(&s, &hello, ZCTL_CHALLENGE, &in, false, &err), -EPROTO);
	assert_says(err.text, "the zipperd on the way here protects this one less");
	assert_says(err.text, "next in its zipperd.conf");
	s.link->ops->close(s.link);
	assert_int_equal(daemon_stop(&d), 0);
}

/* The proof of one user protects nothing of another user who says that he comes inside of it. */
static void a_hop_is_one_users(void **state)
{
	struct daemon_fixture d;
	(void)state;
	daemon_start(&d, "a=tcp:127.0.0.1:0/integrity=yes b=tcp:127.0.0.1:0", NULL);
	for (int other = 0; other <= 1; other++) {
		struct zsession s = {.timeout_ms = RUN_MS}, *hop;
		struct zsession_params p;
		struct zctl_msg hello = {.type = ZCTL_HELLO}, in;
		struct zerr err = {""};
		fixture_params(&p, &d.addr[0], "j");
		if (other)
			fixture_be_other(&p);
		p.zipper.seal = 1 + ZSEAL_ENCRYPT;
		assert_int_equal(zsession_open(&hop, &p, ZCTL_SERVICE_HOP, &err), 0);
		s.tail = &s.head;
		s.link = zsession_release(hop);
		hello.u.hello.service = ZCTL_SERVICE_RANK;
		hello.u.hello.seal = ZSEAL_INSIDE;
		strcpy(hello.u.hello.user, FIXTURE_USER);
		strcpy(hello.u.hello.job, "j");
		assert_int_equal(zsession_io_request(&s, &hello, ZCTL_CHALLENGE, &in, false, &err),
			other ? -EPROTO : 0);
		if (other)
			assert_says(err.text, "the zipperd on the way here protects this one less");
		s.link->ops->close(s.link);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

/* From a by zipperd 0 to zipperd 1. */
static int hop(const struct daemon_fixture *d, bool other, const char *words, struct zerr *err)
{
	struct zsession_params p;
	struct zsession *s;
	struct zhop hop = {.from = "a", .to = "b"};
	char text[400];
	size_t n;
	fixture_params(&p, &d[0].addr[0], "j");
	if (other)
		fixture_be_other(&p);
	hop.addr = d[1].addr[0];
	hop.addr.seal = 0;
	zaddr_format(&hop.addr, text, sizeof(text));
	n = strlen(text);
	snprintf(text + n, sizeof(text) - n, "%s", words);
	assert_int_equal(zaddr_parse(&hop.addr, text, err), 0);
	p.hops = &hop;
	p.nhops = 1;
	int rc = zsession_open(&s, &p, ZCTL_SERVICE_RANK, err);
	if (rc == 0)
		zsession_close(s);
	return rc;
}

static void start_two(struct daemon_fixture *d, const char *listen, const char *next)
{
	char text[100], option[100];
	snprintf(text, sizeof(text), "b=%s c=tcp:127.0.0.1:0", listen);
	daemon_start(&d[1], text, NULL);
	snprintf(option, sizeof(option), next, d[1].addr[0].port);
	daemon_start(&d[0], "a=tcp:127.0.0.1:0 b=tcp:127.0.0.1:0", option);
}

static void stop_two(struct daemon_fixture *d)
{
	assert_int_equal(daemon_stop(&d[0]), 0);
	assert_int_equal(daemon_stop(&d[1]), 0);
}

/* The next zipperd, which takes only encrypted connections, sees that they are without a word of anybody. */
static void hops_are_encrypted_where_nothing_is_said(void **state)
{
	static const char *const nexts[] = {"next=b", "next=b=tcp:127.0.0.1:%d"};
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct daemon_fixture d[2];
		struct zerr err = {""};
		start_two(d, "tcp:127.0.0.1:0/encrypt=yes", nexts[i]);
		if (hop(d, false, "", &err) != 0 || hop(d, true, "", &err) != 0)
			fail_msg("%s", err.text);
		stop_two(d);
	}
}

static void a_hop_that_is_less_is_refused(void **state)
{
	static const struct {
		const char *next, *words;
		bool good;
	} is[] = {
		{"next=b=tcp:127.0.0.1:%d/encrypt=no", "", false},
		{"next=b=tcp:127.0.0.1:%d/integrity=yes", "", true}, /* and the next zipperd asks for more */
		{"next=b=tcp:127.0.0.1:%d/integrity=yes", "/encrypt=yes", true},
		{"next=b=tcp:127.0.0.1:%d", "/encrypt=no", true}, /* the operator's word is more */
		{"next=b", "/encrypt=no", false},
		{"next=b", "/encrypt=yes", true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct daemon_fixture d[2];
		struct zerr err = {""};
		start_two(d, "tcp:127.0.0.1:0/encrypt=yes", is[i].next);
		int rc = hop(d, false, is[i].words, &err);
		if (is[i].good && rc != 0)
			fail_msg("%s", err.text);
		if (!is[i].good) {
			assert_int_equal(rc, -EPROTO);
			assert_says(err.text, "the zipperd on the way here protects this one less");
		}
		stop_two(d);
	}
}

/* The next zipperd does not know the key of the user. */
static void a_hop_needs_the_key_at_both(void **state)
{
	struct daemon_fixture d[2];
	struct zerr err = {""};
	char keys[100];
	(void)state;
	start_two(d, "tcp:127.0.0.1:0", "next=b");
	snprintf(keys, sizeof(keys), "sed -i /other/d %.60s/keys", d[1].dir);
	assert_int_equal(system(keys), 0);
	assert_int_equal(kill(d[1].pid, SIGHUP), 0);
	assert_true(daemon_logged(&d[1], "keys and log level were read again"));
	assert_int_equal(hop(d, true, "", &err), -EHOSTUNREACH);
	assert_says(err.text, "cannot reach the next: ");
	assert_says(err.text, "refuses the key of user other");
	assert_int_equal(hop(d, false, "", &err), 0);
	stop_two(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_more_careful_end_decides),
		cmocka_unit_test(a_job_talks),
		cmocka_unit_test(no_channel_has_less),
		cmocka_unit_test(nobody_comes_inside_of_nothing),
		cmocka_unit_test(a_hop_is_one_users),
		cmocka_unit_test(hops_are_encrypted_where_nothing_is_said),
		cmocka_unit_test(a_hop_that_is_less_is_refused),
		cmocka_unit_test(a_hop_needs_the_key_at_both),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
