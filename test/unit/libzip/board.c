/* SPDX-License-Identifier: BSD-3-Clause */
/* Boards between processes: children that share one hand each other numbers in random roles, and every one of them sees
 * all that it should, whoever comes late. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>

/* alone, over memory that the test maps */
#include "libzip/world/board.c"

#define MEMBERS 4
#define OPERATIONS 20000

struct znative zn;
struct zworld zworld;

static int setup(void **state)
{
	(void)state;
	region = mmap(NULL, BOARDS * sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return region == MAP_FAILED ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	zboard_fini();
	return 0;
}

static uint64_t value_of(uint64_t operation, int member)
{
	return operation * 1000003 + (uint64_t)member;
}

/* In each operation one is the root: it gives to all, or all give to it; now and then somebody is late. */
static int play(int number, int me)
{
	struct zboard *b = zboard_join(number, MEMBERS, me);
	unsigned seed = (unsigned)me;
	for (uint64_t i = 0; i < OPERATIONS; i++) {
		uint64_t op = zboard_next(b), *mine;
		int root = (int)(op * 7 / 3 % MEMBERS);
		bool spreads = op % 3 == 0;
		if (op != i || !zboard_is_turn(b, op))
			return 1;
		if (rand_r(&seed) % 50 == 0)
			sched_yield();
		if (spreads == (root == me)) {
			while (!(mine = zboard_mine(b, op)))
				sched_yield();
			mine[0] = mine[zboard_bytes(b) / sizeof(*mine) - 1] = value_of(op, me);
			zboard_publish(b, op);
		}
		for (int from = 0; from < MEMBERS; from++) {
			const uint64_t *seen;
			if (from == me || (spreads ? from != root : me != root))
				continue;
			while (!(seen = zboard_look(b, op, from)))
				sched_yield();
			if (seen[0] != value_of(op, from) ||
				seen[zboard_bytes(b) / sizeof(*seen) - 1] != value_of(op, from))
				return 2;
		}
		zboard_finish(b, op);
	}
	zboard_leave(b);
	return 0;
}

static void processes_see_what_was_given(void **state)
{
	(void)state;
	int number = zboard_claim(MEMBERS), status;
	assert_true(number >= 0);
	for (int me = 0; me < MEMBERS; me++) {
		pid_t child = fork();
		assert_true(child >= 0);
		if (child == 0)
			_exit(play(number, me));
	}
	for (int me = 0; me < MEMBERS; me++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(atomic_load(&region[number].users), 0);
}

/* A slot is used again only when all members are done with its contents. */
static void slots_wait_for_the_last_reader(void **state)
{
	(void)state;
	int number = zboard_claim(2);
	struct zboard *b = zboard_join(number, 2, 0);
	for (int i = 0; i < ZBOARD_DEPTH; i++) {
		uint64_t op = zboard_next(b);
		assert_non_null(zboard_mine(b, op));
		zboard_publish(b, op);
		zboard_finish(b, op);
	}
	assert_null(zboard_mine(b, ZBOARD_DEPTH));
	atomic_store(&region[number].member[1].done, 1);
	assert_non_null(zboard_mine(b, ZBOARD_DEPTH));
	assert_null(zboard_mine(b, ZBOARD_DEPTH + 1));
	zboard_leave(b);
}

/* Two operations under way: the second one may be published first, which says nothing of the first. */
static void operations_are_published_each_for_itself(void **state)
{
	(void)state;
	int number = zboard_claim(2);
	struct zboard *b = zboard_join(number, 2, 0);
	uint64_t first = zboard_next(b), second = zboard_next(b);
	assert_non_null(zboard_mine(b, second));
	zboard_publish(b, second);
	assert_null(zboard_look(b, first, 0));
	assert_ptr_equal(zboard_look(b, second, 0), zboard_mine(b, second));
	zboard_publish(b, first);
	assert_ptr_equal(zboard_look(b, first, 0), zboard_mine(b, first));
	zboard_leave(b);
}

static void boards_come_to_an_end(void **state)
{
	(void)state;
	int number[BOARDS];
	for (int i = 0; i < BOARDS; i++) {
		number[i] = zboard_claim(2);
		assert_true(number[i] >= 0);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(number[i], number[k]);
	}
	assert_int_equal(zboard_claim(2), -1);
	assert_null(zboard_join(-1, 2, 0));
	zboard_leave(zboard_join(number[5], 2, 0));
	assert_int_equal(zboard_claim(2), -1); /* the other one is still there */
	zboard_leave(zboard_join(number[5], 2, 1));
	assert_int_equal(zboard_claim(2), number[5]);
}

static void there_is_none_for_too_few_or_too_many(void **state)
{
	(void)state;
	assert_int_equal(zboard_claim(1), -1);
	assert_int_equal(zboard_claim(MEMBERS_MAX + 1), -1);
	int number = zboard_claim(MEMBERS_MAX);
	struct zboard *b = zboard_join(number, MEMBERS_MAX, MEMBERS_MAX - 1);
	char *last = zboard_mine(b, ZBOARD_DEPTH - 1);
	assert_true(last + zboard_bytes(b) <= region[number].data + DATA_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(processes_see_what_was_given, setup, teardown),
		cmocka_unit_test_setup_teardown(slots_wait_for_the_last_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(operations_are_published_each_for_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(boards_come_to_an_end, setup, teardown),
		cmocka_unit_test_setup_teardown(there_is_none_for_too_few_or_too_many, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
