/* SPDX-License-Identifier: BSD-3-Clause */
/* zipcast between two fabrics, over a real zipperd: the cases of unit/zipcast/cast, and failures on the way. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/transport/base/addr.h"
#include "common/control/auth.h"
#include "test/unit/zipcast/cases.h"
#include "test/unit/zipcast/ends.h"
#include "test/unit/zipperd/daemon_fixture.h"

static struct daemon_fixture d;
static struct cast_zipper zipper;

static int start(const char *listen)
{
	struct zsession_params p;
	daemon_start(&d, listen, NULL);
	fixture_params(&p, &d.addr[0], "any");
	for (int i = 0; i < 2; i++)
		zaddr_format(&d.addr[i], zipper.address[i], sizeof(zipper.address[i]));
	zipper.user = FIXTURE_USER;
	memcpy(zipper.key, p.key, sizeof(zipper.key));
	cast_zipper = &zipper;
	return 0;
}

static int setup(void **state)
{
	return start(strcmp(*state, "tcp") == 0 ? "a=tcp:127.0.0.1:0 b=tcp:127.0.0.1:0" : "a=shm:%d/a b=shm:%d/b");
}

static int teardown(void **state)
{
	(void)state;
	cast_zipper = NULL;
	return daemon_stop(&d);
}

static const uint32_t all[] = {0, 1, 2, 3};

/* Messages that a root has sent before it closes arrive, even if they wait in zipperd. */
static void last_words(void **state)
{
	static struct cast_member m[2];
	static const uint32_t two[] = {0, 1};
	struct cast c;
	memset(m, 0, sizeof(m));
	cast_open(&c, *state, 2, ZIPCAST_HYBRID);
	for (uint32_t round = 0; round < 10; round++) {
		cast_group(&c, m,
			&(struct zipcast_group_config){.number = round,
				.nmembers = 2,
				.members = two,
				.block_bytes = 1 << 20});
		cast_send(&m[0], 1, 20000000);
		cast_wait_complete(&m[0], 1, 1);
		if (round == 9) {
			cast_close_node(&c, 0);
			m[0].group = NULL;
		}
		cast_wait_complete(&m[1], 1, 1);
		cast_destroy(m, 2);
	}
	cast_close(&c);
}

/* zipperd dies: groups that need it fail with that reason; groups on one fabric go on. */
static void loss_of_zipperd(void **state)
{
	static struct cast_member m[4], o[2];
	static const uint32_t even[] = {0, 2};
	struct cast c;
	memset(m, 0, sizeof(m));
	memset(o, 0, sizeof(o));
	cast_open(&c, *state, 4, ZIPCAST_HYBRID);
	cast_group(&c, m, &(struct zipcast_group_config){.number = 1, .nmembers = 4, .members = all});
	cast_group(&c, o, &(struct zipcast_group_config){.number = 2, .nmembers = 2, .members = even});
	cast_send(&m[0], 1, 3000000);
	cast_wait_complete(m, 4, 1);
	kill(d.pid, SIGKILL);
	cast_wait_failed(m, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(m[i].failed, 1);
	cast_send(&o[0], 1, 3000000);
	cast_wait_complete(o, 2, 1);
	char why[ZIPCAST_WHY_BYTES];
	struct zipcast_group_config again = {.number = 3, .nmembers = 4, .members = all};
	struct cast_member late = {.cast = &c, .node = 0, .number = 3, .root = true};
	assert_true(cast_create(&late, &again, why) < 0);
	assert_non_null(strstr(why, "zipperd"));
	cast_destroy(m, 4);
	cast_destroy(o, 2);
	cast_close(&c);
}

static int teardown_killed(void **state)
{
	(void)state;
	cast_zipper = NULL;
	return daemon_stop(&d) == 128 + SIGKILL ? 0 : -1;
}

struct wrong {
	const char *fabric[2];
	const char *user;
	bool wrong_key, no_zipper;
	const char *why;
};

/* Each error comes in one line and at once: from the call, or in the group. */
static void refusals(void **state)
{
	static const struct wrong cases[] = {
		{{"a", "x"}, FIXTURE_USER, false, false, "serves no fabric 'x'"},
		{{"b", "a"}, FIXTURE_USER, false, false, "does not serve fabric b"},
		{{"a", "b"}, "nobody", false, false, "refuses the key of user nobody"},
		{{"a", "b"}, FIXTURE_USER, true, false, "refuses the key of user " FIXTURE_USER},
		{{"a", "b"}, FIXTURE_USER, false, true, "this node knows no zipper"},
	};
	static const uint8_t key[ZIPCAST_KEY_BYTES] = "session";
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wrong *w = &cases[i];
		static struct cast_member m;
		struct cast c = {.n = 1};
		char why[ZIPCAST_WHY_BYTES] = "", other[64];
		struct zipcast_config config = {.listen = "tcp:127.0.0.1:0",
			.session = "test",
			.key = key,
			.timeout_ms = 60000,
			.fabric = w->fabric[0],
			.zipper = w->no_zipper ? NULL : zipper.address[0],
			.user = w->user,
			.user_key = w->wrong_key ? NULL : zipper.key};
		pthread_mutex_init(&c.lock, NULL);
		pthread_cond_init(&c.changed, NULL);
		assert_int_equal(zipcast_open(&c.zc[0], &config, why), 0);
		snprintf(other, sizeof(other), "%s=tcp:127.0.0.1:9", w->fabric[1]);
		const char *address[] = {zipcast_address(c.zc[0]), other};
		assert_int_equal(zipcast_meet(c.zc[0], address, 2, why), 0);
		static const uint32_t two[] = {0, 1};
		struct zipcast_group_config group = {.number = 1, .nmembers = 2, .members = two};
		m = (struct cast_member){.cast = &c, .node = 0, .number = 1, .root = true};
		if (cast_create(&m, &group, why) == 0) {
			cast_wait_failed(&m, 1);
			snprintf(why, sizeof(why), "%s", m.why);
			zipcast_group_destroy(m.group);
		}
		if (!strstr(why, w->why))
			fail_msg("case %zu: '%s'", i, why);
		zipcast_close(c.zc[0]);
	}
}

/* Configurations and addresses that do not fit together. */
static void nonsense(void **state)
{
	static const uint8_t key[ZIPCAST_KEY_BYTES] = "session";
	struct zipcast_config config = {.listen = "tcp:127.0.0.1:0",
		.session = "test",
		.key = key,
		.zipper = "tcp:127.0.0.1:9"};
	char why[ZIPCAST_WHY_BYTES];
	struct zipcast *zc;
	(void)state;
	assert_int_equal(zipcast_open(&zc, &config, why), -EINVAL);
	assert_non_null(strstr(why, "fabric"));
	config.fabric = "a=b";
	assert_int_equal(zipcast_open(&zc, &config, why), -EINVAL);
	config.fabric = "a";
	assert_int_equal(zipcast_open(&zc, &config, why), -EINVAL);
	assert_non_null(strstr(why, "name"));
	config.user = "me";
	config.zipper = "nonsense";
	assert_int_equal(zipcast_open(&zc, &config, why), -EINVAL);
	config.zipper = NULL;
	assert_int_equal(zipcast_open(&zc, &config, why), 0);
	assert_int_equal(strncmp(zipcast_address(zc), "a=tcp:127.0.0.1:", 16), 0);
	assert_int_equal(zipcast_meet(zc, (const char *[]){"tcp:127.0.0.1:9"}, 1, why), -EINVAL);
	assert_non_null(strstr(why, "names no fabric"));
	zipcast_close(zc);
	config.fabric = NULL;
	assert_int_equal(zipcast_open(&zc, &config, why), 0);
	assert_int_equal(zipcast_meet(zc, (const char *[]){"a=tcp:127.0.0.1:9"}, 1, why), -EINVAL);
	assert_non_null(strstr(why, "names a fabric"));
	assert_int_equal(zipcast_meet(zc, (const char *[]){zipcast_address(zc), "shm:/tmp/x"}, 2, why), -EINVAL);
	assert_non_null(strstr(why, "another kind of address"));
	zipcast_close(zc);
}

#define BRIDGED(test, transport)                                                                                       \
	{                                                                                                              \
#test "_" transport, test, setup, teardown, (void *)(uintptr_t)transport                               \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BRIDGED(two_members, "tcp"),
		BRIDGED(seven_members, "tcp"),
		BRIDGED(seven_members, "shm"),
		BRIDGED(eight_sleeping_members, "tcp"),
		BRIDGED(thirteen_members, "shm"),
		BRIDGED(three_polling_members, "shm"),
		BRIDGED(overlapping_groups, "tcp"),
		BRIDGED(overlapping_groups, "shm"),
		BRIDGED(failure_of_a_member, "tcp"),
		BRIDGED(failure_of_a_member, "shm"),
		BRIDGED(member_that_comes_late, "tcp"),
		BRIDGED(member_that_comes_too_late, "tcp"),
		BRIDGED(no_memory_for_a_message, "shm"),
		BRIDGED(leaving_an_idle_group, "tcp"),
		BRIDGED(going_from_an_idle_group, "tcp"),
		BRIDGED(going_from_an_idle_group, "shm"),
		BRIDGED(different_groups_of_one_number, "shm"),
		BRIDGED(two_roots, "tcp"),
		BRIDGED(a_member_that_never_comes, "tcp"),
		BRIDGED(destroying_in_the_middle, "tcp"),
		BRIDGED(destroying_in_the_middle, "shm"),
		BRIDGED(end_of_an_idle_group, "shm"),
		BRIDGED(end_behind_what_was_accepted, "tcp"),
		BRIDGED(last_words, "tcp"),
		BRIDGED(last_words, "shm"),
		BRIDGED(refusals, "tcp"),
		CAST_CASE(nonsense, "tcp"),
		{"loss_of_zipperd", loss_of_zipperd, setup, teardown_killed, (void *)(uintptr_t) "tcp"},
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
