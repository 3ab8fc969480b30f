/* SPDX-License-Identifier: BSD-3-Clause */
/* The line that says why a job ends, of what zipperd and mpiexec know of one rank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "launch/run/run.h"
#include "launch/run/verdict.h"

#define RANK "rank 1 (b rank 0 on h)"

/* zipperd says so, and mpiexec of part b tells this status, or no status yet (-1). */
static void assert_told(const char *text, int status, const char *expected)
{
	static struct zplan plan = {.nparts = 2, .parts = {{.name = "a", .nranks = 1}, {.name = "b", .nranks = 1}}};
	struct zjob job = {.n = 1, .world = true, .dead = true};
	struct zrun *run = calloc(1, sizeof(*run));
	assert_non_null(run);
	job.rails[0] = (struct zjob_rail){.name = "z", .dead = true};
	snprintf(job.rails[0].text, sizeof(job.rails[0].text), "%s", text);
	run->plan = &plan;
	run->job = &job;
	zoutput_init(&run->err, -1);
	for (int i = 0; i < 2; i++)
		run->parts[i].plan = &plan.parts[i];
	run->parts[1].by_itself = true;
	run->parts[1].chatter.have_codes = status >= 0;
	run->parts[1].chatter.status = status >= 0 ? status : 0;
	zverdict_set(run, 1, 0, "%s", text);
	zverdict_show_complete(run);
	assert_string_equal(run->verdict, expected);
	free(run->err.buf);
	free(run);
}

static void a_rank_without_a_word_has_the_status_of_mpiexec(void **state)
{
	(void)state;
	assert_told(RANK " died (lost its connection)", 3, RANK " ended with status 3 without MPI_Finalize");
	assert_told(RANK " died (closed its connection)", 3, RANK " ended with status 3 without MPI_Finalize");
	assert_told(RANK " died (lost its connection)", -1, RANK " died (lost its connection)");
}

static void a_reason_stays(void **state)
{
	(void)state;
	assert_told(RANK " died (rxeb: Network is down)", 1, RANK " died (rxeb: Network is down)");
	assert_told(RANK " aborted with code 1: rxeb: Network is down", 1,
		RANK " aborted with code 1: rxeb: Network is down");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_without_a_word_has_the_status_of_mpiexec),
		cmocka_unit_test(a_reason_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
