/* SPDX-License-Identifier: BSD-3-Clause */
/* What is under way when a rail is lost, where rails differ in what they have brought: see bridge_fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bridge_fixture.h"

#define WINDOW FRAGMENT /* one transfer takes all of it */

static uint8_t buf[PEERS][8 * FRAGMENT];

/* Both say that these rails are lost, the other one last. */
static void agree(int rail, uint32_t with, uint32_t lost, uint64_t ack)
{
	bridge_turn();
	const struct post *told = bridge_posted(ZWIRE_RAILS, with);
	assert_non_null(told);
	assert_int_equal(told->env.offset, lost);
	bridge_say(rail, with, (struct zwire_env){.kind = ZWIRE_RAILS, .offset = lost, .ack = ack});
	bridge_turn();
}

/* So many fragments come, from that one on. */
static void bring(int rail, uint32_t from, uint64_t xfer, uint32_t at, uint32_t n)
{
	for (; n > 0; n--, at++) {
		bridge_say(rail, from,
			(struct zwire_env){.kind = ZWIRE_DATA, .xfer = xfer, .offset = at * FRAGMENT, .len = FRAGMENT});
		bridge_turn();
	}
}

static void test_moved_frees_the_window(void **state)
{
	const uint32_t from = 1, other = 3; /* by rails 0 and 2 */
	(void)state;
	bridge_begin(3, WINDOW, true);
	struct zreq *a = bridge_recv(buf[0], 2 * FRAGMENT, (int)from),
		    *b = bridge_recv(buf[1], 2 * FRAGMENT, (int)other);
	bridge_say(0, from,
		(struct zwire_env){.kind = ZWIRE_RTS,
			.flags = ZWIRE_F_ONE_SIDED,
			.seq = 1,
			.xfer = 7,
			.offset = 2 * FRAGMENT});
	bridge_turn();
	const struct post *cts = bridge_posted(ZWIRE_CTS, from);
	assert_int_equal(cts->env.len, ZRMA_KEY_BYTES);
	uint64_t id = cts->env.comm;
	/* All has been written, and the sender told so; we were not. */
	bridge_break(0);
	agree(1, from, 1, 0);
	cts = bridge_posted(ZWIRE_CTS, from);
	assert_true(cts->env.flags & ZWIRE_F_RESTART);
	assert_int_equal(cts->env.offset, WINDOW);
	bridge_say(2, other, (struct zwire_env){.kind = ZWIRE_RTS, .seq = 1, .xfer = 8, .offset = 2 * FRAGMENT});
	bridge_turn();
	assert_null(bridge_posted(ZWIRE_CTS, other));
	bridge_say(1, from, (struct zwire_env){.kind = ZWIRE_MOVED, .flags = ZWIRE_F_RESTART, .xfer = id});
	bridge_turn();
	assert_true(a->done);
	cts = bridge_posted(ZWIRE_CTS, other);
	assert_non_null(cts);
	assert_int_equal(cts->env.offset, WINDOW);
	bring(2, other, cts->env.comm, 0, 2);
	assert_true(b->done);
	zreq_release(a);
	zreq_release(b);
	bridge_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_frees_the_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
