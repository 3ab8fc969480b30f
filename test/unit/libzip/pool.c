/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool: blocks come back, large ones too, and a burst of them is not held. malloc and free are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/within.h"

static int allocated, freed;

static void *counted_malloc(size_t bytes)
{
	allocated++;
	return malloc(bytes);
}

static void counted_free(void *p)
{
	freed++;
	free(p);
}

#define malloc counted_malloc
#define free counted_free
#include "libzip/shim/pool.c"
#undef malloc
#undef free

#define MiB ((size_t)1 << 20)

static int setup(void **state)
{
	(void)state;
	allocated = freed = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	zpool_fini();
	assert_int_equal(allocated, freed);
	return 0;
}

static void blocks_of_every_size_are_used_again(void **state)
{
	(void)state;
	const size_t sizes[] = {0, 1, 256, 257, 4096, MiB, 2 * MiB, 6 * MiB, 16 * MiB};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		allocated = freed = 0;
		void *p = zpool_get(sizes[i]);
		assert_non_null(p);
		memset(p, 1, sizes[i]);
		zpool_put(p);
		assert_ptr_equal(zpool_get(sizes[i]), p);
		zpool_put(p);
		assert_int_equal(allocated, 1);
		assert_int_equal(freed, 0);
		zpool_fini();
	}
	allocated = freed = 0;
}

static void the_largest_are_not_kept(void **state)
{
	(void)state;
	void *p = zpool_get(17 * MiB);
	assert_non_null(p);
	zpool_put(p);
	assert_int_equal(freed, 1);
	assert_null(zpool_get(SIZE_MAX));
	zpool_put(NULL);
}

/* The pool keeps 4 MiB of small buffers, and one of each larger size. */
static void a_burst_is_not_held(void **state)
{
	(void)state;
	void *p[32];
	for (int i = 0; i < 32; i++)
		assert_non_null(p[i] = zpool_get(MiB));
	for (int i = 0; i < 32; i++)
		zpool_put(p[i]);
	assert_within(32 - freed, 2, 4);
	zpool_fini();
	allocated = freed = 0;
	for (int i = 0; i < 4; i++)
		assert_non_null(p[i] = zpool_get(8 * MiB));
	for (int i = 0; i < 4; i++)
		zpool_put(p[i]);
	assert_int_equal(freed, 3);
}

#define TEST(run) cmocka_unit_test_setup_teardown(run, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(blocks_of_every_size_are_used_again),
		TEST(the_largest_are_not_kept),
		TEST(a_burst_is_not_held),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
