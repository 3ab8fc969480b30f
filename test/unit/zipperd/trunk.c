/* SPDX-License-Identifier: BSD-3-Clause */
/* Trunks that the test opens at the real zipperd: a trunk without streams goes, and one with bad streams is lost. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/daemon_fixture.h"
#include "zipperd/lane/stream.h"

#define PATIENCE_MS 60000
#define PINGS 400 /* their answers are larger than the first window */

struct bench {
	struct daemon_fixture d;
	struct zlink *trunk;
	/* what it has said */
	int nleaves, nanswers, ncloses;
	uint32_t of;		 /* the stream of the last of these but the first kind */
	int64_t end_ms;		 /* when the test gives up */
	int rc;			 /* why it has ended; 0: it has not */
	struct zctl_hello hello; /* the last one */
	struct zctl_challenge challenge;
	/* of stream 1 */
	bool grants;			/* says what it has taken */
	uint64_t taken, told;		/* bytes from zipperd */
	uint64_t sent, granted, window; /* bytes to it */
};

static void take_answer(struct bench *b, const struct zwire_env *env, const void *payload)
{
	struct zctl_msg m;
	struct zerr err;
	assert_int_equal(zctl_decode(&m, payload, env->len, &err), 0);
	if (m.type == ZCTL_CHALLENGE)
		b->challenge = m.u.challenge;
	b->nanswers++;
	zctl_free(&m);
}

static void say(struct bench *, uint32_t stream, const struct zwire_env *, const void *payload);

static void grant(struct bench *b)
{
	b->told = b->taken;
	say(b, 1, &(struct zwire_env){.kind = ZWIRE_CREDIT, .xfer = ZWIRE_STREAM_FIRST, .offset = b->taken}, NULL);
}

static void count(struct bench *b, const struct zwire_env *env)
{
	if (env->kind == ZWIRE_CREDIT) {
		b->granted = env->offset;
		b->window = env->xfer;
	}
	if (env->kind != ZWIRE_CTRL)
		return;
	assert_true(stream_fits(b->taken - b->told, ZWIRE_STREAM_FIRST, ZWIRE_ENV_BYTES + (uint64_t)env->len));
	b->taken += ZWIRE_ENV_BYTES + (uint64_t)env->len;
}

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct bench *b = ctx;
	(void)raw;
	(void)payload;
	if (env->kind == ZWIRE_CLOSE && env->job == 0) {
		b->nleaves++;
		return 0;
	}
	if (env->kind == ZWIRE_CTRL)
		take_answer(b, env, payload);
	b->ncloses += env->kind == ZWIRE_CLOSE;
	if (env->job == 1)
		count(b, env);
	b->of = env->job;
	return 0;
}

static void hear_some(struct bench *b)
{
	const struct zsink sink = {.take = take, .ctx = b};
	int rc = b->trunk->ops->poll(b->trunk, &sink, 16);
	b->rc = rc < 0 ? rc : 0;
	if (rc == 0)
		sched_yield();
	if (b->grants && b->taken - b->told >= ZWIRE_STREAM_FIRST / 4)
		grant(b);
	assert_true(fixture_now_ms() < b->end_ms);
}

/* Takes what comes until there are as many of one kind, or the trunk ends. */
static void hear(struct bench *b, const int *count, int wanted)
{
	b->end_ms = fixture_now_ms() + PATIENCE_MS;
	while (*count < wanted && b->rc == 0)
		hear_some(b);
}

static void hear_end(struct bench *b)
{
	static const int never = 0;
	hear(b, &never, 1);
}

static void say(struct bench *b, uint32_t stream, const struct zwire_env *what, const void *payload)
{
	struct zwire_env env = *what;
	uint8_t raw[ZWIRE_ENV_BYTES];
	env.job = stream;
	env.src = env.dst = ZWIRE_NOBODY;
	zwire_encode(raw, &env);
	assert_int_equal(b->trunk->ops->post(b->trunk, raw, payload, env.len), 0);
	assert_int_equal(b->trunk->ops->flush(b->trunk), 0);
}

static void say_close(struct bench *b, uint32_t stream)
{
	say(b, stream, &(struct zwire_env){.kind = ZWIRE_CLOSE}, NULL);
}

static void say_msg(struct bench *b, uint32_t stream, const struct zctl_msg *m)
{
	uint8_t buf[1024];
	int len = zctl_encode(buf, sizeof(buf), m);
	assert_true(len > 0);
	say(b, stream, &(struct zwire_env){.kind = ZWIRE_CTRL, .len = (uint32_t)len}, buf);
	b->sent += stream == 1 ? ZWIRE_ENV_BYTES + (uint64_t)len : 0;
}

static void say_hello(struct bench *b, uint32_t stream)
{
	struct zctl_msg m = {.type = ZCTL_HELLO};
	m.u.hello.protocol = ZCTL_PROTOCOL;
	m.u.hello.service = ZCTL_SERVICE_RANK;
	strcpy(m.u.hello.user, FIXTURE_USER);
	strcpy(m.u.hello.job, "j");
	strcpy(m.u.hello.release, "test");
	b->hello = m.u.hello;
	say_msg(b, stream, &m);
}

/* From now on the stream may be silent as long as ranks may. */
static void prove(struct bench *b, uint32_t stream)
{
	struct zctl_msg proof = {.type = ZCTL_PROOF};
	struct zsession_params p;
	fixture_params(&p, &b->d.addr[0], "j");
	say_hello(b, stream);
	hear(b, &b->nanswers, b->nanswers + 1);
	zauth_module.prove(proof.u.proof.mac, p.key, ZAUTH_ASKS, &b->hello, &b->challenge);
	say_msg(b, stream, &proof);
	hear(b, &b->nanswers, b->nanswers + 1);
	assert_int_equal(b->of, stream);
}

static void start(struct bench *b, const char *transport, const char *options)
{
	const struct zctl_trunk sessions = {.from = "a", .share = ZCTL_SHARE_SESSIONS};
	struct zsession_params p;
	struct zerr err;
	memset(b, 0, sizeof(*b));
	b->window = ZWIRE_STREAM_FIRST;
	daemon_start(&b->d,
		strcmp(transport, "tcp") == 0 ? "a=tcp:127.0.0.1:0 b=tcp:127.0.0.1:0" : "a=shm:%d/a b=shm:%d/b",
		options);
	fixture_params(&p, &b->d.addr[0], "j");
	assert_int_equal(zsession_open_trunk(&b->trunk, &p, &sessions, &err), 0);
}

static void halt(struct bench *b)
{
	b->trunk->ops->close(b->trunk);
	assert_int_equal(daemon_stop(&b->d), 0);
}

static void idle_goes(const char *transport)
{
	struct bench b;
	start(&b, transport, "hello_timeout=200ms log_level=debug");
	hear(&b, &b.nleaves, 1);
	assert_int_equal(b.nleaves, 1);
	hear_end(&b);
	assert_int_equal(b.rc, -ESHUTDOWN);
	assert_int_equal(b.nleaves + b.nanswers + b.ncloses, 1);
	assert_true(daemon_logged(&b.d, " has no streams: closed"));
	halt(&b);
}

static void an_idle_trunk_goes(void **state)
{
	(void)state;
	idle_goes("tcp");
	idle_goes("shm");
}

static void a_stream_that_was_on_its_way_is_served(void **state)
{
	struct bench b;
	(void)state;
	start(&b, "tcp", "hello_timeout=2s");
	hear(&b, &b.nleaves, 1);
	say_hello(&b, 1);
	hear(&b, &b.nanswers, 1); /* its CHALLENGE; then it says nothing for too long, and ends */
	assert_int_equal(b.rc, 0);
	assert_int_equal(b.of, 1);
	hear(&b, &b.ncloses, 1);
	assert_int_equal(b.rc, 0);
	say_close(&b, 1);
	hear_end(&b);
	assert_int_equal(b.rc, -ESHUTDOWN);
	assert_int_equal(b.nleaves, 1);
	halt(&b);
}

static void a_trunk_with_a_stream_stays(void **state)
{
	struct bench b;
	(void)state;
	start(&b, "tcp", "hello_timeout=2s");
	prove(&b, 1);
	fixture_nap(5000);
	prove(&b, 2);
	assert_int_equal(b.rc, 0);
	assert_int_equal(b.nleaves + b.ncloses, 0);
	halt(&b);
}

/* Streams 1 and 3 have begun and ended. Stream 2 has not begun. */
static void start_with_ended(struct bench *b)
{
	start(b, "tcp", NULL);
	for (uint32_t id = 1; id <= 3; id += 2) {
		say_hello(b, id);
		hear(b, &b->nanswers, b->nanswers + 1);
		say_close(b, id);
		hear(b, &b->ncloses, b->ncloses + 1);
	}
	assert_int_equal(b->rc, 0);
	say_hello(b, 2);
	hear(b, &b->nanswers, 3);
	assert_int_equal(b->of, 2);
	assert_int_equal(b->rc, 0);
}

static void check_lost(struct bench *b, const char *why)
{
	hear_end(b);
	assert_true(daemon_logged(&b->d, why));
	halt(b);
}

static void a_number_is_good_once(void **state)
{
	struct bench b;
	(void)state;
	start_with_ended(&b);
	say_hello(&b, 3);
	check_lost(&b, "a stream with the number of one that has ended");
	start_with_ended(&b);
	say_close(&b, 2);
	say_hello(&b, 2);
	hear_end(&b); /* before or after it is forgotten */
	halt(&b);
}

static void other_numbers_are_refused(void **state)
{
	struct bench b;
	(void)state;
	start(&b, "tcp", NULL);
	say_hello(&b, 0);
	check_lost(&b, "a message of no stream");
	start(&b, "tcp", NULL);
	say_hello(&b, UINT32_MAX);
	check_lost(&b, "too many streams in one trunk");
	start(&b, "tcp", NULL);
	say(&b, 1, &(struct zwire_env){.kind = ZWIRE_CREDIT}, NULL);
	check_lost(&b, "room for a stream that has not begun");
}

/* PINGs, which zipperd answers in their order. */
static void ping(struct bench *b, int n)
{
	const struct zctl_msg m = {.type = ZCTL_PING};
	for (int i = 0; i < n; i++) {
		while (!stream_fits(b->sent - b->granted, b->window, 1024))
			hear_some(b);
		say_msg(b, 1, &m);
	}
}

static void answers_keep_to_the_window(void **state)
{
	struct bench b;
	(void)state;
	start(&b, "tcp", NULL);
	prove(&b, 1);
	ping(&b, PINGS);
	while (stream_fits(b.taken - b.told, ZWIRE_STREAM_FIRST, ZWIRE_ENV_BYTES + 64))
		hear_some(&b);
	assert_true(b.nanswers < PINGS);
	prove(&b, 2); /* it is not held up */
	b.grants = true;
	grant(&b);
	hear(&b, &b.nanswers, 2 + 2 + PINGS);
	assert_int_equal(b.rc, 0);
	say(&b, 1, &(struct zwire_env){.kind = ZWIRE_CREDIT, .offset = b.taken + 1}, NULL);
	hear(&b, &b.ncloses, 1); /* of that stream alone */
	assert_int_equal(b.of, 1);
	assert_int_equal(b.rc, 0);
	halt(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_trunk_goes),
		cmocka_unit_test(a_stream_that_was_on_its_way_is_served),
		cmocka_unit_test(a_trunk_with_a_stream_stays),
		cmocka_unit_test(a_number_is_good_once),
		cmocka_unit_test(other_numbers_are_refused),
		cmocka_unit_test(answers_keep_to_the_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
