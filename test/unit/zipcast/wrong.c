/* SPDX-License-Identifier: BSD-3-Clause */
/* Members that know the key and send wrong messages: their group fails, with the reason, before a byte is written
 * anywhere. */
#include <string.h>

#include "test/unit/zipcast/fixture.h"
#include "zipcast/group.h"

#define BLOCK 1000
#define BYTES (2 * BLOCK + BLOCK / 2) /* of the message that they claim to send */

static const struct wrong {
	uint8_t kind;
	bool up; /* from the receiver, to the root */
	uint32_t times, len;
	uint64_t xfer, seq, offset;
	const char *why;
} cases[] = {
	{ZWIRE_BLOCK, false, 1, BLOCK, 7, BYTES, 0, "its blocks belong to no message that was asked for"},
	{ZWIRE_BLOCK, false, 1, BLOCK, 2, BYTES, BLOCK / 2, "a block lies outside of the message"},
	{ZWIRE_BLOCK, false, 1, BLOCK, 2, BYTES, UINT64_C(3) * BLOCK, "a block lies outside of the message"},
	{ZWIRE_BLOCK, false, 1, BLOCK, 2, 0, 0, "a block lies outside of the message"},
	{ZWIRE_BLOCK, false, 1, BLOCK, 2, UINT64_C(1) << 50, 0, "a block lies outside of the message"},
	{ZWIRE_BLOCK, false, 1, BLOCK - 1, 2, BYTES, 0, "a block has the wrong size"},
	{ZWIRE_BLOCK, false, 1, BLOCK, 2, BYTES, UINT64_C(2) * BLOCK, "a block has the wrong size"},
	{ZWIRE_BLOCK, false, 1, 0, 2, BYTES, 0, "a block has the wrong size"},
	{ZWIRE_BLOCK, false, 1, 0, 2, BYTES, UINT64_C(1) << 40, "a block lies outside of the message"},
	{ZWIRE_BLOCK, false, 2, BLOCK, 2, BYTES, 0, "it sent a block twice"},
	{ZWIRE_BLOCK, true, 1, BLOCK, 2, BYTES, 0, "it sends blocks to a node that does not receive any"},
	{ZWIRE_WRITTEN, false, 1, 0, 2, BYTES, 0, "it says that it has written to memory that is not open to it"},
};
static const struct wrong *wrong;
static struct cast_member m[2];

/* Runs in the thread of the sender, after a message of another group that it receives. */
static void send_wrong(struct cast_member *receiver)
{
	static const uint8_t payload[BLOCK];
	const struct cast_member *from = &m[receiver->node];
	const struct zipcast_group *g = from->group;
	const struct zwire_env env = {.kind = wrong->kind,
		.src = from->node,
		.dst = !from->node,
		.comm = from->number,
		.xfer = wrong->xfer,
		.seq = wrong->seq,
		.offset = wrong->offset,
		.len = wrong->len};
	for (uint32_t i = 0; i < wrong->times; i++)
		if (znode_post(g->member[!g->me].node, &env, payload) != 0)
			abort();
}

static void members_that_send_what_is_wrong(void **state)
{
	static const uint32_t two[] = {0, 1}, reversed[] = {1, 0};
	struct zipcast_group_config first = {.number = 1, .nmembers = 2, .members = two, .block_bytes = BLOCK},
				    second = {.number = 2, .nmembers = 2};
	static struct cast_member other[2];
	(void)state;
	for (wrong = cases; wrong < cases + sizeof(cases) / sizeof(cases[0]); wrong++) {
		struct cast c;
		char why[ZIPCAST_WHY_BYTES];
		memset(other, 0, sizeof(other));
		cast_open(&c, "tcp", 2, ZIPCAST_HYBRID);
		cast_group(&c, m, &first);
		cast_send(&m[0], 1, BYTES);
		cast_wait_complete(m, 2, 1);
		second.members = wrong->up ? two : reversed;
		other[1].behind = send_wrong;
		cast_group(&c, other, &second);
		cast_send(&other[0], 1, 1);
		cast_wait_failed(&m[!wrong->up], 1);
		snprintf(why, sizeof(why), "node %d: %s", wrong->up, wrong->why);
		if (strcmp(m[!wrong->up].why, why) != 0)
			fail_msg("\"%s\" instead of \"%s\"", m[!wrong->up].why, why);
		assert_int_equal(m[1].damaged, 0);
		cast_destroy(other, 2);
		cast_destroy(m, 2);
		cast_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(members_that_send_what_is_wrong)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
