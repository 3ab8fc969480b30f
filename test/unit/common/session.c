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
		assert_int_equal(zaddr_parse(&z.addr, "tcp:127.0.0.1:0", &err), 0);
		assert_int_equal(z.ops->listen(&z.listener, &z.addr, &err), 0);
		z.ops->listener_addr(z.listener, &p.zipper);
		assert_int_equal(pthread_create(&thread, NULL, serve, &z), 0);
		const int rc = zsession_open(&s, &p, ZCTL_SERVICE_RANK, &err);
		if (rc == 0)
			zsession_close(s);
		pthread_join(thread, NULL);
		z.ops->unlisten(z.listener);
		if (z.wrong)
			fail_msg("%s", z.wrong);
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
	assert_int_equal(zaddr_parse(&z->addr, "tcp:127.0.0.1:0", &err), 0);
	assert_int_equal(z->ops->listen(&z->listener, &z->addr, &err), 0);
	z->ops->listener_addr(z->listener, &p.zipper);
	assert_int_equal(pthread_create(&thread, NULL, serve, z), 0);
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
	pthread_join(thread, NULL);
	z->ops->unlisten(z->listener);
	assert_int_equal(z->joins, rc == 0);
	if (z->wrong)
		fail_msg("%s", z->wrong);
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(zipperd_proves_that_it_knows_the_key),
		cmocka_unit_test(a_rank_tries_again_where_there_are_too_many),
		cmocka_unit_test(a_rank_speaks_the_protocol_of_an_earlier_zipperd),
		cmocka_unit_test(a_peer_that_only_talks_is_given_up)};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
