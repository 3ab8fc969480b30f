/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of groups over tcp and shm, and wrong words about them. */
#include <stdio.h>
#include <string.h>

#include "test/unit/zipcast/cases.h"
#include "test/unit/zipcast/ends.h"
#include "zipcast/group.h"

static const struct word_case {
	struct zwire_env env;
	uint32_t suspect; /* of the root */
	const char *why;
} words[] = {
	/* what release 1.0.0 says */
	{{.kind = ZWIRE_READY, .xfer = 2}, ZIPCAST_NOBODY,
		"nodes 1 and 0 have different releases: they speak versions 0 and 1 of zipcast"},
	{{.kind = ZWIRE_LEAVE, .tag = 1, .xfer = 1, .seq = ZWIRE_LEAVE_END}, 1,
		"node 1 has ended group 1, and is not its root"},
	{{.kind = ZWIRE_LEAVE, .tag = 1, .xfer = 1, .seq = 2}, 1, "node 1 ("},
	{{.kind = ZWIRE_READY, .flags = ZWIRE_F_SYNC, .ack = ZWIRE_CAST_VERSION, .xfer = 2}, 1,
		"node 1: its word about a barrier is not due"},
	{{.kind = ZWIRE_FAIL, .tag = 2}, 1, "node 1 has said that group 1 has failed"},
	{{.kind = ZWIRE_FAIL, .tag = 1}, 0, "node 1 has said that group 1 has failed"},
	{{.kind = ZWIRE_FAIL, .tag = 0}, ZIPCAST_NOBODY, "node 1 has said that group 1 has failed"},
	{{.kind = ZWIRE_FAIL, .tag = 3}, ZIPCAST_NOBODY, "node 1 has said that group 1 has failed"}, /* no member */
	{{.kind = ZWIRE_FAIL, .tag = -1}, ZIPCAST_NOBODY, "node 1 has said that group 1 has failed"},
};
static const struct word_case *word;
static struct cast_member m[2];

/* Runs in the thread of node 1, after a message of another group. */
static void say(struct cast_member *receiver)
{
	const struct zipcast_group *g = m[1].group;
	struct zwire_env env = word->env;
	env.src = receiver->node;
	env.comm = m[1].number;
	if (env.kind == ZWIRE_READY)
		env.tag = (int32_t)g->definition;
	if (znode_post(g->member[0].node, &env, NULL) != 0)
		abort();
}

static void words_that_are_wrong(void **state)
{
	static const uint32_t two[] = {0, 1};
	static struct cast_member other[2];
	(void)state;
	for (word = words; word < words + sizeof(words) / sizeof(words[0]); word++) {
		struct cast c;
		memset(m, 0, sizeof(m));
		memset(other, 0, sizeof(other));
		cast_open(&c, "tcp", 3, ZIPCAST_HYBRID);
		cast_group(&c, m, &(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = two});
		cast_send(&m[0], 1, 1000);
		cast_wait_complete(m, 2, 1);
		other[1].behind = say;
		cast_group(&c, other, &(struct zipcast_group_config){.number = 2, .nmembers = 2, .members = two});
		cast_send(&other[0], 1, 1);
		cast_wait_failed(m, 2);
		if (strncmp(m[0].why, word->why, strlen(word->why)) != 0)
			fail_msg("\"%s\" instead of \"%s\"", m[0].why, word->why);
		assert_int_equal(m[0].suspect, word->suspect);
		if (word->env.kind == ZWIRE_READY && word->env.flags == 0) /* the other end hears the same line */
			assert_string_equal(m[1].why, word->why);
		cast_destroy(other, 2);
		cast_destroy(m, 2);
		cast_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAST_CASE(end_of_an_idle_group, "tcp"),
		CAST_CASE(end_of_an_idle_group, "shm"),
		CAST_CASE(end_behind_what_was_accepted, "tcp"),
		CAST_CASE(end_behind_what_was_accepted, "shm"),
		CAST_CASE(end_by_a_call, "tcp"),
		CAST_CASE(end_that_is_destroyed_in_its_callback, "tcp"),
		CAST_CASE(end_before_members_come, "tcp"),
		CAST_CASE(end_before_members_come, "shm"),
		CAST_CASE(end_of_a_group_that_a_member_has_left, "tcp"),
		CAST_CASE(end_of_a_group_that_a_member_has_left, "shm"),
		CAST_CASE(end_that_lacks_a_member, "tcp"),
		CAST_CASE(end_of_members_that_others_do_not_need, "tcp"),
		CAST_CASE(root_that_closes_with_messages, "tcp"),
		CAST_CASE(root_that_closes_with_messages, "shm"),
		CAST_CASE(root_that_is_lost, "tcp"),
		CAST_CASE(member_that_is_lost, "tcp"),
		CAST_CASE(words_that_are_wrong, "tcp"),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
