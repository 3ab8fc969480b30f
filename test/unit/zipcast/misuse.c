/* SPDX-License-Identifier: BSD-3-Clause */
/* Mistakes of programs, and settings at their limits: each gets an answer at once, and disturbs no other group. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/zipcast/cases.h"

static const uint32_t two[] = {0, 1};

/* The largest timeout means to wait for ever. */
static void the_longest_timeout(void **state)
{
	static const uint32_t longest[] = {UINT32_MAX, (uint32_t)INT32_MAX + 1};
	const struct zipcast_group_config config = {.number = 1, .nmembers = 2, .members = two};
	static struct cast_member m[2];
	char why[ZIPCAST_WHY_BYTES] = "";
	for (size_t k = 0; k < 2; k++) {
		struct cast c;
		cast_timeout_ms = longest[k];
		cast_open(&c, *state, 2, ZIPCAST_HYBRID);
		cast_timeout_ms = 60000;
		for (uint32_t i = 0; i < 2; i++) {
			m[i] = (struct cast_member){.cast = &c, .node = i, .number = 1, .root = i == 0, .salt = 1};
			if (cast_create(&m[i], &config, why) != 0)
				fail_msg("node %u: %s", i, why);
			usleep(400000); /* twice the time between looks at the clock */
		}
		cast_send(&m[0], 1, 100000);
		cast_wait_complete(m, 2, 1);
		cast_destroy(m, 2);
		cast_close(&c);
	}
}

/* --- messages without bytes --- */

/* zipcast_send refuses them: a link that sent from nowhere would break, and other groups with it. */
static void messages_that_are_none(void **state)
{
	static struct cast_member m[2];
	static uint8_t byte;
	struct cast c;
	memset(m, 0, sizeof(m));
	cast_open(&c, *state, 2, ZIPCAST_HYBRID);
	cast_group(&c, m, &(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = two, .block_bytes = 4});
	assert_int_equal(zipcast_send(m[0].group, NULL, 1), -EINVAL);
	assert_int_equal(zipcast_send(m[0].group, &byte, 0), -EINVAL);
	assert_int_equal(zipcast_send(m[0].group, &byte, UINT64_C(4) * INT32_MAX + 1), -EINVAL);
	assert_int_equal(zipcast_send(m[0].group, &byte, UINT64_MAX), -EINVAL);
	assert_int_equal(zipcast_send(m[1].group, &byte, 1), -EPERM);
	cast_send(&m[0], 1, 100001);
	cast_wait_complete(m, 2, 1);
	cast_destroy(m, 2);
	cast_close(&c);
}

/* --- addresses in a wrong order --- */

/* Node 2 again, with these addresses of nodes 0 and 1. */
static void open_again(struct cast *c, uint32_t first, uint32_t second)
{
	char why[ZIPCAST_WHY_BYTES] = "";
	struct zipcast_config config = {.me = 2, .listen = "tcp:127.0.0.1:0", .session = "test", .key = cast_key};
	cast_close_node(c, 2);
	if (zipcast_open(&c->zc[2], &config, why) != 0)
		fail_msg("%s", why);
	const char *address[] = {zipcast_address(c->zc[first]), zipcast_address(c->zc[second]),
		zipcast_address(c->zc[2])};
	if (zipcast_meet(c->zc[2], address, 3, why) != 0)
		fail_msg("%s", why);
}

/* It hears at once, not after the timeout, which node it has reached there, whatever that node knows of the group. */
static void addresses_that_are_exchanged(void **state)
{
	/* Node 1 has nothing to say to node 2; then it has. */
	static const char *const how[] = {"sequential", "chain"};
	static const uint32_t all[] = {0, 1, 2};
	static struct cast_member m[3];
	char why[ZIPCAST_WHY_BYTES];
	(void)state;
	for (uint32_t k = 0; k < 2; k++) {
		struct zipcast_group_config config = {.number = 1, .nmembers = 3, .members = all, .algorithm = how[k]};
		struct cast c;
		cast_open(&c, "tcp", 3, ZIPCAST_HYBRID);
		open_again(&c, 1, 0);
		for (uint32_t i = 0; i < 3; i++) {
			m[i] = (struct cast_member){.cast = &c, .node = i, .number = 1, .root = i == 0};
			assert_int_equal(cast_create(&m[i], &config, why), 0);
		}
		cast_wait_failed(&m[2], 1);
		if (!strstr(m[2].why, k == 0 ? "that is the address of node 1" : "that is the address of node 0"))
			fail_msg("%s: '%s'", how[k], m[2].why);
		cast_destroy(m, 3);
		cast_close(&c);
	}
}

/* A node may not take its own address for that of another node, either. */
static void an_address_twice(void **state)
{
	static const uint32_t members[] = {0, 2};
	struct zipcast_group_config config = {.number = 1, .nmembers = 2, .members = members};
	struct cast_member m;
	struct cast c;
	char why[ZIPCAST_WHY_BYTES] = "";
	(void)state;
	cast_open(&c, "tcp", 3, ZIPCAST_HYBRID);
	open_again(&c, 2, 1);
	m = (struct cast_member){.cast = &c, .node = 2, .number = 1};
	assert_int_equal(cast_create(&m, &config, why), -EINVAL);
	assert_string_equal(why, "node 2: that is not the number of a node that connects to this one");
	cast_close(&c);
}

/* --- missing arguments, and values that do not exist --- */

/* zc: a context that was opened against expectation is closed at once. */
static void refused(int rc, struct zipcast *zc, const char *why, const char *expected)
{
	zipcast_close(zc);
	assert_int_equal(rc, -EINVAL);
	if (!strstr(why, expected))
		fail_msg("'%s' instead of '%s'", why, expected);
}

/* Closing what zipcast_open leaves in the handle does no harm. */
static void not_opened(const struct zipcast_config *config, const char *expected)
{
	char why[ZIPCAST_WHY_BYTES] = "";
	struct zipcast *zc;
	int rc = zipcast_open(&zc, config, why);
	refused(rc, zc, why, expected);
}

static void configurations_that_are_none(void **state)
{
	static const char *const listen[] = {"tcp:0.0.0.0:0", "tcp:0", "tcp:[::]:0", "tcp:[0::0]:1", "fka:1@0.0.0.0:0"};
	const struct zipcast_config good = {.listen = "tcp:127.0.0.1:0", .session = "test", .key = cast_key};
	struct zipcast_config c = good;
	(void)state;
	c.waiting = (enum zipcast_waiting)3;
	not_opened(&c, "no way of waiting with number 3");
	c = good;
	for (size_t i = 0; i < sizeof(listen) / sizeof(*listen); i++) {
		c.listen = listen[i];
		not_opened(&c, "no address that others can reach");
	}
}

static void arrays_that_are_not_there(void **state)
{
	const struct zipcast_config config = {.listen = "tcp:127.0.0.1:0", .session = "test", .key = cast_key};
	const struct zipcast_events events = {.failed = NULL};
	struct zipcast_group_config g = {.number = 1, .nmembers = 1};
	struct zipcast_group *group;
	struct zipcast *zc;
	char why[ZIPCAST_WHY_BYTES] = "";
	(void)state;
	assert_int_equal(zipcast_open(&zc, &config, why), 0);
	const char *address[] = {zipcast_address(zc), NULL};
	refused(zipcast_meet(zc, address, 2, why), NULL, why, "node 1: has no address");
	refused(zipcast_meet(zc, NULL, 1, why), NULL, why, "no addresses");
	assert_int_equal(zipcast_meet(zc, address, 1, why), 0);
	refused(zipcast_group_create(&group, zc, &g, &events, why), NULL, why, "no members");
	g.members = two;
	refused(zipcast_group_create(&group, zc, &g, NULL, why), NULL, why, "no callbacks");
	assert_int_equal(zipcast_group_create(&group, zc, &g, &events, why),
		0); /* the refused ones left nothing behind */
	zipcast_close(zc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAST_CASE(the_longest_timeout, "tcp"),
		CAST_CASE(the_longest_timeout, "shm"),
		CAST_CASE(messages_that_are_none, "tcp"),
		CAST_CASE(addresses_that_are_exchanged, "tcp"),
		CAST_CASE(an_address_twice, "tcp"),
		CAST_CASE(configurations_that_are_none, "tcp"),
		CAST_CASE(arrays_that_are_not_there, "tcp"),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
