/* SPDX-License-Identifier: BSD-3-Clause */
/* What Open MPI's mpirun says of ranks that ended is taken out of the error output. All else is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/io/pump.h"

#define RULE "--------------------------------------------------------------------------\n"
#define ABORT                                                                                                          \
	RULE "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 7.\n\n"                   \
	     "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n" RULE
#define EXITED                                                                                                         \
	RULE "prterun has exited due to process rank 1 with PID 0 on node vm calling\n\"abort\". This may have\n" RULE
#define PRIMARY                                                                                                        \
	RULE "Primary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, "    \
	     "the job has been aborted.\n" RULE
#define NOTICED                                                                                                        \
	RULE "mpirun.openmpi noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed).\n" RULE
#define DETECTED                                                                                                       \
	RULE "mpirun detected that one or more processes exited with non-zero status, thus causing\nthe job to be "    \
	     "terminated. The first process to do so was:\n\n  Process name: [[5303,1],1]\n  Exit code:    3\n" RULE
#define SLOTS                                                                                                          \
	RULE "There are not enough slots available in the system to satisfy the 3\nslots that were requested.\n" RULE

/* With the length of a text that may have zero bytes. */
#define TEXT(text) text, sizeof(text) - 1

static const struct {
	const char *in;
	size_t in_len;
	const char *out;
	size_t out_len;
} cases[] = {
	{TEXT("one\ntwo"), TEXT("one\ntwo")},
	{TEXT("one\n" ABORT "two\n"), TEXT("one\ntwo\n")},
	{TEXT(PRIMARY NOTICED), TEXT("")},
	{TEXT(PRIMARY DETECTED "end\n"), TEXT("end\n")},
	{TEXT(ABORT EXITED "\0"), TEXT("")},
	{TEXT(EXITED "\0" SLOTS), TEXT(SLOTS)},
	{TEXT(SLOTS "\0" EXITED "\0"), TEXT(SLOTS)},
	{TEXT("prompt: " ABORT), TEXT("prompt: " ABORT)},
	{TEXT(EXITED "\0" EXITED "\0one\n"), TEXT("one\n")},
	{TEXT(EXITED "one\n\0two\n"), TEXT("one\n\0two\n")}, /* a rank's own zero byte */
	{TEXT(SLOTS), TEXT(SLOTS)},
	{TEXT(SLOTS "\n" RULE RULE), TEXT(SLOTS "\n" RULE RULE)},
	{TEXT(SLOTS ABORT), TEXT(SLOTS)},
	{TEXT("MPI_ABORT was invoked on rank 3\n"), TEXT("MPI_ABORT was invoked on rank 3\n")},
	{TEXT(RULE "a rank\n" RULE), TEXT(RULE "a rank\n" RULE)},
	{TEXT(RULE "unfinished"), TEXT(RULE "unfinished")},
	{TEXT(SLOTS "[vm:1] 3 more processes have sent help message help-mpi-errors.txt / mpi_errors_are_fatal\n"
		    "[vm:1] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all help / error messages\n"),
		TEXT(SLOTS "[vm:1] 3 more processes have sent help message help-mpi-errors.txt / mpi_errors_are_fatal\n"
			   "[vm:1] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all help / error "
			   "messages\n")},
	{TEXT(ABORT "[vm:20816] 3 more processes have sent help message help-mpi-api.txt / mpi-abort\n"
		    "[vm:20816] Set MCA parameter \"orte_base_help_aggregate\" to 0 to see all help / error messages\n"
		    "[vm:20840] *** An error occurred in MPI_Send\n"),
		TEXT("[vm:20840] *** An error occurred in MPI_Send\n")},
};

/* Sends a text through a pump, in pieces of so many bytes. */
static void pump_all(const char *text, size_t left, size_t piece, struct zoutput *out)
{
	struct zhelptext help = {.state = ZHELPTEXT_NONE};
	struct zpump pump;
	int fd[2];
	assert_int_equal(pipe(fd), 0);
	zoutput_init(out, -1);
	zpump_init(&pump, fd[0], out, NULL, NULL);
	pump.help = &help;
	for (size_t n; left > 0; text += n, left -= n) {
		n = left < piece ? left : piece;
		assert_int_equal(write(fd[1], text, n), n);
		zpump_read(&pump);
	}
	close(fd[1]);
	zpump_read(&pump);
	assert_int_equal(pump.fd, -1);
}

static void texts_of_ends_are_taken_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t piece = 1; piece < cases[i].in_len + 50; piece += piece < 5 ? 1 : 50) {
			struct zoutput out;
			pump_all(cases[i].in, cases[i].in_len, piece, &out);
			const size_t len = out.end - out.begin;
			if (len != cases[i].out_len || (len > 0 && memcmp(out.buf + out.begin, cases[i].out, len) != 0))
				fail_msg("case %zu in pieces of %zu: \"%.*s\"", i, piece, (int)len,
					out.buf ? out.buf + out.begin : "");
			zoutput_free(&out);
		}
}

/* A text without its second rule hides forty lines behind its first one, and no more. */
static void a_lost_rule_hides_little(void **state)
{
	char text[1000] = RULE "MPI_ABORT was invoked on rank 3\n";
	struct zoutput out;
	(void)state;
	for (int i = 0; i < 50; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "line %d\n", i);
	pump_all(text, strlen(text), sizeof(text), &out);
	assert_memory_equal(out.buf + out.begin, "line 40\n", 8);
	zoutput_free(&out);
}

/* A rule is not kept from the user when nothing follows it for a moment. */
static void a_rule_is_shown_in_time(void **state)
{
	struct zhelptext help = {.state = ZHELPTEXT_NONE};
	struct zoutput out;
	struct zpump pump;
	int fd[2];
	(void)state;
	assert_int_equal(pipe(fd), 0);
	zoutput_init(&out, -1);
	zpump_init(&pump, fd[0], &out, NULL, NULL);
	pump.help = &help;
	assert_int_equal(write(fd[1], RULE, strlen(RULE)), strlen(RULE));
	zpump_read(&pump);
	assert_int_equal(out.end - out.begin, 0);
	zpump_tick(&pump, pump.last_ms + ZPUMP_QUIET_MS);
	assert_int_equal(out.end - out.begin, strlen(RULE));
	assert_int_equal(zpump_timeout(&pump, pump.last_ms), -1);
	close(fd[1]);
	zpump_read(&pump);
	zoutput_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(texts_of_ends_are_taken_out),
		cmocka_unit_test(a_lost_rule_hides_little), cmocka_unit_test(a_rule_is_shown_in_time)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
