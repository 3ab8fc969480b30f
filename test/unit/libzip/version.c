/* SPDX-License-Identifier: BSD-3-Clause */
/* The version of the running MPI library, and what depends on it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "libzip/abi/version.h"

static void texts(void **state)
{
	static const struct {
		const char *text;
		int standard, substandard, version;
	} rows[] = {
		{"MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7 12:34:45 CDT 2022\n", 4, 0, ZVERSION(4, 0, 2)},
		{"MPICH Version:      5.0.2\nMPICH ABI:          18:2:6\n", 5, 0, ZVERSION(5, 0, 2)},
		{"MPICH Version:\t3.4.1\n", 3, 1, ZVERSION(3, 4, 1)},
		{"MPICH Version:\t4.3.0rc1\n", 4, 1, ZVERSION(4, 3, 0)},
		{"MPICH Version:\t3.4a2\n", 3, 1, ZVERSION(3, 4, 0)},
		/* Cray counts its own versions, and names MPICH's */
		{"MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)\n", 3, 1, ZVERSION(3, 4, 0)},
		{"MPI VERSION    : CRAY MPICH version 9.0.0.113 (ANL base 4.1.2)\n", 4, 0, ZVERSION(4, 1, 2)},
		/* others name no MPICH */
		{"Intel(R) MPI Library 2021.6 for Linux* OS\n", 3, 1, ZVERSION(3, 2, 0)},
		{"Intel(R) MPI Library 2021.16 for Linux* OS\n", 4, 1, ZVERSION(4, 2, 0)},
		{"MVAPICH2 Version      :\t2.3.6\n", 3, 1, ZVERSION(3, 2, 0)},
		{"", 4, 0, ZVERSION(4, 0, 0)},
		{"MPICH Version: unknown", 5, 1, ZVERSION(5, 0, 0)},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(zversion_read(rows[i].text, rows[i].standard, rows[i].substandard), rows[i].version);
}

/* The values of the headers of MPICH 3.4.1, 4.0.2, 4.2.1 and 5.0.2. */
static void constants(void **state)
{
	(void)state;
	assert_true(zversion_is_in(ZVERSION(3, 4, 1), ZVERSION_COMM_TYPE_NEIGHBORHOOD, 2));
	assert_false(zversion_is_in(ZVERSION(3, 4, 1), ZVERSION_COMM_TYPE_HW_GUIDED, 2));
	assert_true(zversion_is_in(ZVERSION(4, 0, 2), ZVERSION_COMM_TYPE_HW_GUIDED, 2));
	assert_true(zversion_is_in(ZVERSION(4, 0, 2), ZVERSION_COMM_TYPE_NEIGHBORHOOD, 4));
	assert_false(zversion_is_in(ZVERSION(4, 0, 2), ZVERSION_COMM_TYPE_RESOURCE_GUIDED, 4));
	assert_true(zversion_is_in(ZVERSION(4, 2, 1), ZVERSION_COMM_TYPE_RESOURCE_GUIDED, 4));
	assert_false(zversion_is_in(ZVERSION(4, 2, 1), ZVERSION_COMM_TYPE_NEIGHBORHOOD, 4));
	assert_true(zversion_is_in(ZVERSION(5, 0, 2), ZVERSION_COMM_TYPE_NEIGHBORHOOD, 5));
	assert_true(zversion_is_in(ZVERSION(5, 0, 2), ZVERSION_COMM_TYPE_HW_UNGUIDED, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts), cmocka_unit_test(constants)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
