/* SPDX-License-Identifier: BSD-3-Clause */
/* The algebra of groups against the wording of MPI-4.0 section 7.3.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/world/group.h"

#define N(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define CHECK(got, out, ...)                                                                                           \
	do {                                                                                                           \
		const int want[] = {__VA_ARGS__};                                                                      \
		assert_int_equal(got, N(want));                                                                        \
		assert_memory_equal(out, want, sizeof(want));                                                          \
	} while (0)

static void test_union(void **state)
{
	(void)state;
	const int a[] = {7, 2, 5}, b[] = {1, 5, 9, 7};
	int out[7];

	CHECK(zgroupset_union(a, 3, b, 4, out), out, 7, 2, 5, 1, 9);
	CHECK(zgroupset_union(b, 4, a, 3, out), out, 1, 5, 9, 7, 2);
	CHECK(zgroupset_union(a, 3, NULL, 0, out), out, 7, 2, 5);
	CHECK(zgroupset_union(NULL, 0, b, 4, out), out, 1, 5, 9, 7);
	assert_int_equal(zgroupset_union(NULL, 0, NULL, 0, out), 0);
}

static void test_intersection(void **state)
{
	(void)state;
	const int a[] = {7, 2, 5}, b[] = {1, 5, 9, 7};
	int out[7];

	/* order of the first group */
	CHECK(zgroupset_intersection(a, 3, b, 4, out), out, 7, 5);
	CHECK(zgroupset_intersection(b, 4, a, 3, out), out, 5, 7);
	assert_int_equal(zgroupset_intersection(a, 3, NULL, 0, out), 0);
	assert_int_equal(zgroupset_intersection(NULL, 0, a, 3, out), 0);
}

static void test_difference(void **state)
{
	(void)state;
	const int a[] = {7, 2, 5}, b[] = {1, 5, 9, 7};
	int out[7];

	CHECK(zgroupset_difference(a, 3, b, 4, out), out, 2);
	CHECK(zgroupset_difference(b, 4, a, 3, out), out, 1, 9);
	CHECK(zgroupset_difference(a, 3, NULL, 0, out), out, 7, 2, 5);
	assert_int_equal(zgroupset_difference(a, 3, a, 3, out), 0);
}

static void test_compare(void **state)
{
	(void)state;
	const int a[] = {7, 2, 5}, same[] = {7, 2, 5}, turned[] = {5, 7, 2}, other[] = {7, 2, 6};

	assert_int_equal(zgroupset_compare(a, 3, same, 3), MPI_IDENT);
	assert_int_equal(zgroupset_compare(a, 3, turned, 3), MPI_SIMILAR);
	assert_int_equal(zgroupset_compare(a, 3, other, 3), MPI_UNEQUAL);
	assert_int_equal(zgroupset_compare(a, 3, a, 2), MPI_UNEQUAL);
	assert_int_equal(zgroupset_compare(NULL, 0, NULL, 0), MPI_IDENT);
}

static void test_select(void **state)
{
	(void)state;
	const int list[] = {4, 0, 2};
	int ranges[][3] = {{1, 4, 2}, {6, 5, -1}, {0, 0, 5}, {3, 2, 1}};
	int order[8], count;
	const char *reason;

	assert_int_equal(zgroupset_select(5, 3, list, NULL, order, &count, &reason), MPI_SUCCESS);
	CHECK(count, order, 4, 0, 2);
	/* the last range is empty: its first lies behind its last */
	assert_int_equal(zgroupset_select(8, 4, NULL, ranges, order, &count, &reason), MPI_SUCCESS);
	CHECK(count, order, 1, 3, 6, 5, 0);
	assert_int_equal(zgroupset_select(5, 0, NULL, NULL, order, &count, &reason), MPI_SUCCESS);
	assert_int_equal(count, 0);
}

static int class_of_ranks(int size, int n, const int *ranks)
{
	int order[8], count;
	const char *reason;
	int class = zgroupset_select(size, n, ranks, NULL, order, &count, &reason);

	assert_true((class == MPI_SUCCESS) == (reason == NULL));
	return class;
}

static int class_of_range(int size, int first, int last, int stride)
{
	int ranges[1][3] = {{first, last, stride}}, order[8], count;
	const char *reason;
	int class = zgroupset_select(size, 1, NULL, ranges, order, &count, &reason);

	assert_true((class == MPI_SUCCESS) == (reason == NULL));
	return class;
}

static void test_select_refuses(void **state)
{
	(void)state;
	assert_int_equal(class_of_ranks(5, 2, (const int[]){1, 5}), MPI_ERR_RANK);
	assert_int_equal(class_of_ranks(5, 2, (const int[]){-1, 2}), MPI_ERR_RANK);
	assert_int_equal(class_of_ranks(5, 2, (const int[]){3, 3}), MPI_ERR_RANK);
	assert_int_equal(class_of_ranks(5, -1, NULL), MPI_ERR_ARG);
	assert_int_equal(class_of_ranks(0, 1, (const int[]){0}), MPI_ERR_RANK);
	assert_int_equal(class_of_range(5, 0, 4, 0), MPI_ERR_ARG);
	assert_int_equal(class_of_range(5, 0, 5, 1), MPI_ERR_ARG);
	assert_int_equal(class_of_range(5, 4, -1, -1), MPI_ERR_ARG);
	/* ends are not reached by the stride, but the ranks that are named must exist; no overflow on the way */
	assert_int_equal(class_of_range(5, 0, 5, 2), MPI_SUCCESS);
	assert_int_equal(class_of_range(5, 0, INT32_MAX, INT32_MAX), MPI_ERR_ARG);
	assert_int_equal(class_of_range(5, 4, INT32_MIN, INT32_MIN), MPI_ERR_ARG);
}

/* Against a plain quadratic implementation. */
static int contains(const int *a, int n, int x)
{
	for (int i = 0; i < n; i++)
		if (a[i] == x)
			return 1;
	return 0;
}

static int random_set(int *a, int room)
{
	int n = 0;

	while (n < room && rand() % 8)
		do
			a[n] = rand() % 40;
		while (contains(a, n, a[n]) || !++n);
	return n;
}

static void test_random(void **state)
{
	(void)state;
	int a[16], b[16], out[32], want[32], n;

	srand(1);
	for (int round = 0; round < 2000; round++) {
		int na = random_set(a, 16), nb = random_set(b, 16);
		memcpy(want, a, sizeof(a));
		n = na;
		for (int i = 0; i < nb; i++)
			if (!contains(a, na, b[i]))
				want[n++] = b[i];
		assert_int_equal(zgroupset_union(a, na, b, nb, out), n);
		assert_memory_equal(out, want, (size_t)n * sizeof(int));
		n = 0;
		for (int i = 0; i < na; i++)
			if (contains(b, nb, a[i]))
				want[n++] = a[i];
		assert_int_equal(zgroupset_intersection(a, na, b, nb, out), n);
		assert_memory_equal(out, want, (size_t)n * sizeof(int));
		n = 0;
		for (int i = 0; i < na; i++)
			if (!contains(b, nb, a[i]))
				want[n++] = a[i];
		assert_int_equal(zgroupset_difference(a, na, b, nb, out), n);
		assert_memory_equal(out, want, (size_t)n * sizeof(int));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_union),
		cmocka_unit_test(test_intersection),
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_select_refuses),
		cmocka_unit_test(test_random),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
