/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' side of the control protocol, against false zipperds. Keys are proved both ways, so that no rank joins a
 * world, or hands over its messages, at a port where somebody else has begun to listen. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "common/session/session.h"
#include "common/session/session_io.h"

#define PATIENCE_MS 20000
#define GIVE_UP_MS 500
#define USER "tester"

enum answer { RIGHT, OTHER_KEY, ZEROS, REFLECTED, ANSWERS };

struct zipperd {
	const struct ztransport *ops;
	struct zlistener *listener;
	struct zaddr addr;
	enum answer answer;
	int full;	   /* so many connections hear at first that there are too many */
	int code;	   /* in these words */
	uint32_t protocol; /* the latest that it speaks; 0: any */
	uint32_t spoken;   /* by the rank, in the end */
	uint16_t talks;	   /* it says messages of this type without end, and answers nothing; 0: it answers */
	uint8_t key[ZAUTH_KEY_BYTES];
	bool heard; /* the rank has sent a correct proof of its own */
	bool joins; /* then JOIN, in the protocol that it speaks */
	const char *wrong;
	/* it answers an administrator with these pages of a status */
	const struct zctl_status_reply *page;
	uint32_t npages;
	struct zctl_place asked[3]; /* for each page: what the administrator asked for */
	/* messages that have come */
	struct zctl_msg msg;
	bool any;
};

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct zipperd *z = ctx;
	struct zerr err;
	(void)raw;
	if (z->any)
		return -EAGAIN;
	if (env->kind == ZWIRE_CTRL)
		z->any = zctl_decode_as(&z->msg, payload, env->len, z->spoken, &err) == 0;
	return 0;
}

/* In the rank's protocol. */
static int say(const struct zipperd *z, struct zlink *link, const struct zctl_msg *msg)
{
	struct zsession s = {.link = link, .protocol = z->spoken};
	return zsession_io_say(&s, msg, zclock_ms() + PATIENCE_MS);
}

/* The next message. false: it is of another type, or there is none. */
static bool next(struct zipperd *z, struct zlink *link, uint16_t type)
{
	const struct zsink sink = {.take = take, .ctx = z};
	const int64_t end = zclock_ms() + PATIENCE_MS;
	for (z->any = false; !z->any && zclock_ms() < end;) {
		const int rc = link->ops->poll(link, &sink, 1);
		if (rc < 0 && rc != -EAGAIN)
			return false;
		if (rc <= 0)
			poll(NULL, 0, 1);
	}
	return z->any && z->msg.type == type;
}

static void tell_pages(struct zipperd *z, struct zlink *link)
{
	for (uint32_t i = 0; i < z->npages; i++) {
		const struct zctl_msg reply = {.type = ZCTL_STATUS_REPLY, .u.status_reply = z->page[i]};
		if (!next(z, link, ZCTL_STATUS) || say(z, link, &reply) != 0) {
			z->wrong = "no STATUS";
			return;
		}
		z->asked[i] = z->msg.u.status;
	}
}

static void greet(struct zipperd *z, struct zlink *link)
{
	struct zctl_msg challenge = {.type = ZCTL_CHALLENGE}, proof = {.type = ZCTL_PROOF};
	const struct zctl_hello hello = z->msg.u.hello;
	const struct zctl_msg talk = {.type = z->talks};
	while (z->talks)
		if (say(z, link, &talk) != 0)
			return;
	zauth_module.random(challenge.u.challenge.nonce, sizeof(challenge.u.challenge.nonce));
	if (say(z, link, &challenge) != 0 || !next(z, link, ZCTL_PROOF)) {
		z->wrong = "no PROOF";
		return;
	}
	z->heard = zauth_module.check(z->msg.u.proof.mac, z->key, ZAUTH_ASKS, &hello, &challenge.u.challenge) == 0;
	if (z->answer == RIGHT || z->answer == OTHER_KEY)
		zauth_module.prove(proof.u.proof.mac, z->key, ZAUTH_ANSWERS, &hello, &challenge.u.challenge);
	else if (z->answer == REFLECTED)
		memcpy(proof.u.proof.mac, z->msg.u.proof.mac, sizeof(proof.u.proof.mac));
	if (say(z, link, &proof) != 0)
		z->wrong = "the answer cannot be sent";
	if (z->npages > 0)
		tell_pages(z, link);
	else
		z->joins = next(z, link, ZCTL_JOIN);
}

/* Answers HELLO. true: the rank is told to try again. */
static bool answer_hello(struct zipperd *z, struct zlink *link)
{
	z->spoken = z->msg.u.hello.protocol;
	const int code = z->full > 0 ? z->code : z->protocol != 0 && z->spoken > z->protocol ? EPROTONOSUPPORT : 0;
	const struct zctl_msg error = {.type = ZCTL_ERROR, .u.error = {.code = code, .text = "try again"}};
	if (code == 0) {
		greet(z, link);
		return false;
	}
	if (z->full > 0)
		z->full--;
	if (say(z, link, &error) != 0)
		z->wrong = "the answer cannot be sent";
	next(z, link, ZCTL_HELLO); /* until it closes */
	return code == EAGAIN || (code == EPROTONOSUPPORT && z->spoken > ZCTL_PROTOCOL_OLDEST);
}

/* One connection. true: another one is to follow. */
static bool serve_one(struct zipperd *z)
{
	const int64_t end = zclock_ms() + PATIENCE_MS;
	struct zlink *link;
	struct zerr err;
	int rc;
	while ((rc = z->ops->accept(z->listener, &link, &err)) == -EAGAIN && zclock_ms() < end)
		poll(NULL, 0, 1);
	if (rc != 0) {
		z->wrong = "nobody connects";
		return false;
	}
	const bool heard = next(z, link, ZCTL_HELLO);
	if (!heard)
		z->wrong = "no HELLO";
	const bool again = heard && answer_hello(z, link);
	link->ops->close(link);
	return again;
}

static void *serve(void *ctx)
{
	while (serve_one(ctx))
		;
	return NULL;
}

static void start(struct zipperd *z, struct zsession_params *p, pthread_t *thread)
{
	struct zerr err = {""};
	if (zaddr_parse(&z->addr, "tcp:127.0.0.1:0", &err) < 0 || z->ops->listen(&z->listener, &z->addr, &err) < 0)
		fail_msg("%s", err.text);
	z->ops->listener_addr(z->listener, &p->zipper);
	assert_int_equal(pthread_create(thread, NULL, serve, z), 0);
}

static void stop(struct zipperd *z, pthread_t thread)
{
	pthread_join(thread, NULL);
	z->ops->unlisten(z->listener);
	if (z->wrong)
		fail_msg("%s", z->wrong);
}

static void zipperd_proves_that_it_knows_the_key(void **state)
{
	(void)state;
	for (enum answer a = RIGHT; a < ANSWERS; a++) {
		struct zipperd z = {.ops = &ztransport_tcp, .answer = a};
		struct zsession_params p = {.user = USER, .job = "j", .auth = &zauth_module, .timeout_ms = PATIENCE_MS};
		struct zsession *s;
		struct zerr err = {""};
		pthread_t thread;
		zauth_module.random(p.key, sizeof(p.key));
		memcpy(z.key, p.key, sizeof(z.key));
		z.key[5] ^= a == OTHER_KEY;
		start(&z, &p, &thread);
		const int rc = zsession_open(&s, &p, ZCTL_SERVICE_RANK, &err);
		if (rc == 0)
			zsession_close(s);
		stop(&z, thread);
		assert_int_equal(z.heard, a != OTHER_KEY);
		assert_int_equal(rc, a == RIGHT ? 0 : -EACCES);
		if (rc != 0 && !strstr(err.text, " does not know the key of user " USER))
			fail_msg("\"%s\"", err.text);
	}
}

static int open_at(struct zipperd *z)
{
	struct zsession_params p = {.user = USER, .job = "j", .auth = &zauth_module, .timeout_ms = PATIENCE_MS};
	if (z->talks)
		p.timeout_ms = GIVE_UP_MS;
	struct zsession *s = NULL;
	struct zerr err = {""};
	pthread_t thread;
	start(z, &p, &thread);
	const int rc = zsession_open(&s, &p, ZCTL_SERVICE_RANK, &err);
	if (rc == 0) {
		const struct zctl_join join = {.part = "a",
			.parts = "a,b",
			.entries = "a,b",
			.size = 1,
			.host = "h",
			.endpoints = 1,
			.nrails = 1,
			.incarnation = 1};
		assert_int_equal(zsession_protocol(s), z->spoken);
		assert_int_equal(zsession_ask_join(s, &join, &err), 0);
	}
	zsession_close(s);
	stop(z, thread);
	assert_int_equal(z->joins, rc == 0);
	return rc;
}

static int open_when_full(int full, int code, struct zipperd *z)
{
	*z = (struct zipperd){.ops = &ztransport_tcp, .answer = RIGHT, .full = full, .code = code};
	return open_at(z);
}

static void a_rank_tries_again_where_there_are_too_many(void **state)
{
	struct zipperd z;
	(void)state;
	assert_int_equal(open_when_full(3, EAGAIN, &z), 0);
	assert_int_equal(z.full, 0);
	/* other words are the last */
	assert_int_equal(open_when_full(1, EBUSY, &z), -EBUSY);
}

/* Every proof is right in the protocol that it is made in: the false zipperd checks it. */
static void a_rank_speaks_the_protocol_of_an_earlier_zipperd(void **state)
{
	struct zipperd z;
	(void)state;
	for (uint32_t p = ZCTL_PROTOCOL_OLDEST; p <= ZCTL_PROTOCOL + 1; p++) {
		z = (struct zipperd){.ops = &ztransport_tcp, .answer = RIGHT, .protocol = p};
		assert_int_equal(open_at(&z), 0);
		assert_int_equal(z.spoken, p > ZCTL_PROTOCOL ? ZCTL_PROTOCOL : p);
	}
	/* then comes the limit on strangers */
	z = (struct zipperd){.ops = &ztransport_tcp, .answer = RIGHT, .full = 2, .code = EAGAIN, .protocol = 1};
	assert_int_equal(open_at(&z), 0);
	assert_int_equal(z.spoken, 1);
}

/* A peer that has proved nothing may say neither much nor for long. */
static void a_peer_that_only_talks_is_given_up(void **state)
{
	struct zipperd z = {.ops = &ztransport_tcp, .talks = ZCTL_OPEN};
	(void)state;
	assert_int_equal(open_at(&z), -EPROTO);
	z = (struct zipperd){.ops = &ztransport_tcp, .talks = ZCTL_PING};
	assert_int_equal(open_at(&z), -ETIMEDOUT);
}

/* A zipperd ends a page within the directions of a job. The next page has the job and its parts once more.
 * A job that ended between two pages is told of twice. */
static void pages_of_a_status_become_one(void **state)
{
#define JOB(n, is, parts, lanes)                                                                                       \
	{                                                                                                              \
		.number = (n), .user = USER, .id = "j", .phase = (is), .nparts = (parts), .nlanes = (lanes)            \
	}
#define PART(of)                                                                                                       \
	{                                                                                                              \
		.name = (of), .fabric = "x"                                                                            \
	}
#define PAGE(jobs, parts, lanes, j, p, l)                                                                              \
	.release = "r", .njobs = (jobs), .nparts = (parts), .nlanes = (lanes), .job = (j), .part = (p), .lane = (l)
	static struct zctl_job_status first[] = {JOB(7, ZCTL_JOB_RUNS, 3, 1)},
				      second[] = {JOB(7, ZCTL_JOB_RUNS, 3, 2), JOB(8, ZCTL_JOB_RUNS, 2, 1)},
				      third[] = {JOB(8, ZCTL_JOB_ENDED, 2, 1)};
	static struct zctl_part_status parts[] = {PART("a"), PART("b"), PART("c"), PART("d"), PART("e")};
	static struct zctl_lane_status lanes[] = {{.to = 1, .msgs = 1}, {.to = 2, .msgs = 2}, {.from = 1, .msgs = 3},
		{.to = 1, .msgs = 4}, {.from = 1, .msgs = 5}};
	static const uint32_t wanted[][3] = {{7, 3, 3}, {8, 2, 1}, {8, 2, 1}}; /* of each job */
	static const char names[] = "abcdede";
	const struct zctl_status_reply pages[] = {{PAGE(1, 3, 1, first, parts, lanes), .more = {0, 7, 1}},
		{PAGE(2, 5, 3, second, parts, lanes + 1), .more = {0, 8, 0}},
		{PAGE(1, 2, 1, third, parts + 3, lanes + 4)}};
	struct zipperd z = {.ops = &ztransport_tcp, .answer = RIGHT, .page = pages, .npages = 3};
	struct zsession_params p = {.user = USER, .job = "", .auth = &zauth_module, .timeout_ms = PATIENCE_MS};
	struct zctl_status_reply all;
	struct zsession *s;
	struct zerr err = {""};
	pthread_t thread;
	(void)state;
	start(&z, &p, &thread);
	if (zsession_open(&s, &p, ZCTL_SERVICE_ADMIN, &err) != 0 || zsession_status(s, &all, &err) != 0)
		fail_msg("%s", err.text);
	zsession_close(s);
	stop(&z, thread);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(z.asked[i].job, i > 0 ? pages[i - 1].more.job : 0);
		assert_int_equal(z.asked[i].lane, i > 0 ? pages[i - 1].more.lane : 0);
	}
	assert_int_equal(all.njobs, 3);
	assert_int_equal(all.nparts, 7);
	assert_int_equal(all.nlanes, 5);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(all.job[i].number, wanted[i][0]);
		assert_int_equal(all.job[i].nparts, wanted[i][1]);
		assert_int_equal(all.job[i].nlanes, wanted[i][2]);
	}
	for (int i = 0; i < 7; i++)
		assert_int_equal(all.part[i].name[0], names[i]);
	for (int i = 0; i < 5; i++)
		assert_int_equal(all.lane[i].msgs, lanes[i].msgs);
	zctl_status_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(zipperd_proves_that_it_knows_the_key),
		cmocka_unit_test(a_rank_tries_again_where_there_are_too_many),
		cmocka_unit_test(a_rank_speaks_the_protocol_of_an_earlier_zipperd),
		cmocka_unit_test(a_peer_that_only_talks_is_given_up), cmocka_unit_test(pages_of_a_status_become_one)};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
