/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for a native request with a limit, where native MPI is a count of tests. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* alone, over a native MPI of its own */
#include "libzip/shim/patience.c"

#define NEVER INT_MAX

struct znative zn;

static int tests, complete_at, fail_at; /* counts from 1 */

static int fake_test(MPI_Request *request, int *flag, MPI_Status *status)
{
	(void)request, (void)status;
	tests++;
	*flag = tests >= complete_at;
	return tests == fail_at ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int wait_for(int complete, int fail, int limit_ms)
{
	MPI_Request request = MPI_REQUEST_NULL;

	tests = 0;
	complete_at = complete;
	fail_at = fail;
	zn.Test = fake_test;
	return zpatience_wait(&request, limit_ms);
}

static void waits_until_complete(void **state)
{
	(void)state;
	assert_int_equal(wait_for(1, NEVER, INT_MAX), 0);
	assert_int_equal(tests, 1);
	assert_int_equal(wait_for(20, NEVER, INT_MAX), 0);
	assert_int_equal(tests, 20);
}

static void gives_up(void **state)
{
	(void)state;
	assert_int_equal(wait_for(NEVER, NEVER, 20), -ETIMEDOUT);
}

/* A request that is complete counts, also when the time is over. */
static void looks_before_it_gives_up(void **state)
{
	(void)state;
	assert_int_equal(wait_for(1, NEVER, 0), 0);
	assert_int_equal(wait_for(NEVER, NEVER, 0), -ETIMEDOUT);
	assert_int_equal(tests, 1);
}

static void tells_of_failures(void **state)
{
	(void)state;
	assert_int_equal(wait_for(NEVER, 3, INT_MAX), -EIO);
	assert_int_equal(tests, 3);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(waits_until_complete),
		cmocka_unit_test(gives_up),
		cmocka_unit_test(looks_before_it_gives_up),
		cmocka_unit_test(tells_of_failures),
	};
	return cmocka_run_group_tests_name("libzip_patience", all, NULL, NULL);
}
