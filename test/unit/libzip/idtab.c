/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers for objects, as request handles are made of: unique, found again, stale ones refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/world/idtab.h"

static void test_find(void **state)
{
	struct zidtab t = {0};
	int object[1000];
	uint32_t id[1000];

	(void)state;
	assert_null(zidtab_find(&t, 1));
	for (int i = 0; i < 1000; i++) {
		id[i] = zidtab_add(&t, &object[i]);
		assert_true(id[i] > 0 && id[i] < 1u << ZIDTAB_ID_BITS);
	}
	for (int i = 0; i < 1000; i++)
		assert_ptr_equal(zidtab_find(&t, id[i]), &object[i]);
	assert_null(zidtab_find(&t, 0));
	assert_null(zidtab_find(&t, UINT64_MAX));
	assert_null(zidtab_find(&t, (uint64_t)id[5] + (UINT64_C(1) << 40)));
	assert_null(zidtab_find(&t, id[5] + (1u << ZIDTAB_INDEX_BITS)));
	zidtab_fini(&t);
}

static void test_stale(void **state)
{
	struct zidtab t = {0};
	int object;
	uint32_t old = zidtab_add(&t, &object);

	(void)state;
	for (int i = 0; i < 60; i++) {
		uint32_t id = zidtab_add(&t, &object);
		zidtab_del(&t, id);
		assert_null(zidtab_find(&t, id));
		uint32_t again = zidtab_add(&t, &object);
		assert_int_not_equal(id, again);
		assert_null(zidtab_find(&t, id));
		zidtab_del(&t, again);
	}
	assert_ptr_equal(zidtab_find(&t, old), &object);
	zidtab_del(&t, old);
	assert_int_equal(t.used, 0);
	zidtab_fini(&t);
}

static void test_full(void **state)
{
	struct zidtab t = {0};
	int object;
	uint32_t n = 0;

	(void)state;
	while (zidtab_add(&t, &object))
		n++;
	assert_int_equal(n, (1u << ZIDTAB_INDEX_BITS) - 1);
	zidtab_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_stale),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests_name("idtab", tests, NULL, NULL);
}
