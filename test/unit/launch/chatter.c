/* SPDX-License-Identifier: BSD-3-Clause */
/* mpiexec's own lines are taken out of the ranks' output, and lines of ranks never. Labels become virtual ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/io/pump.h"

#define RULE "===================================================================================\n"
#define BANNER                                                                                                         \
	"\n" RULE "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 26552 RUNNING AT vm\n"            \
	"=   EXIT CODE: 9\n=   CLEANING UP REMAINING PROCESSES\n"                                                      \
	"=   YOU CAN IGNORE THE BELOW CLEANUP MESSAGES\n" RULE
#define TAIL                                                                                                           \
	"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n"                                        \
	"This typically refers to a problem with your application.\n"                                                  \
	"Please see the FAQ page for debugging suggestions\n"

/* Sends a text through a pump, in pieces of so many bytes. */
static void pump_all(const char *text, size_t piece, int first_vrank, struct zchatter *chatter, char *got, size_t cap)
{
	struct zplan_part plan = {.nranks = 1 << 20, .first = first_vrank};
	struct zoutput out;
	struct zpump pump;
	int fd[2];
	memset(chatter, 0, sizeof(*chatter));
	assert_int_equal(pipe(fd), 0);
	zoutput_init(&out, -1);
	zpump_init(&pump, fd[0], &out, chatter, first_vrank < 0 ? NULL : &plan);
	for (size_t len = strlen(text); len > 0;) {
		size_t n = len < piece ? len : piece;
		assert_int_equal(write(fd[1], text, n), n);
		zpump_read(&pump);
		text += n;
		len -= n;
	}
	close(fd[1]);
	zpump_read(&pump);
	assert_int_equal(pump.fd, -1);
	snprintf(got, cap, "%.*s", (int)(out.end - out.begin), out.buf ? out.buf + out.begin : "");
	zoutput_free(&out);
}

static const struct {
	const char *in, *out;
	int first_vrank, status, signal, nkilled;
} cases[] = {
	{"one\ntwo", "one\ntwo", -1, 0, 0, 0},
	{"[mpiexec@vm] Exit codes: [vm] 256,512,768\n", "", -1, 3, 0, 0},
	{"a\n[mpiexec@vm] Exit codes: [h1] 0,256\n[h2] 512,9\n", "a\n", -1, 2, 0, 1},
	{"[mpiexec@vm] Exit codes: [vm] 9,11,6,256\n", "", -1, 11, 11, 1},
	{"unfinished[mpiexec@vm] Exit codes: [vm] 256\n", "unfinished", -1, 1, 0, 0},
	{"[mpiexec@vm] Exit codes: [vm] 1,0\n", "", -1, 1, 0, 0}, /* not signal 1 */
	{"[mpiexec@vm] Exit codes: [vm] none\n", "[mpiexec@vm] Exit codes: [vm] none\n", -1, 0, 0, 0},
	{"[mpiexec@vm] Exit codes: [vm] 0\n[h2] hello\n", "[h2] hello\n", -1, 0, 0, 0},
	{"[vm] 256\n", "[vm] 256\n", -1, 0, 0, 0},
	{"[mpiexec@vm] something went wrong\n", "[mpiexec@vm] something went wrong\n", -1, 0, 0, 0},
	{"a\n" BANNER "[mpiexec@vm] Exit codes: [vm] 9,9\n" TAIL, "a\n", -1, 0, 0, 2},
	{"\n\n" RULE RULE "\nmine\n" RULE "x\n", "\n\n" RULE RULE "\nmine\n" RULE "x\n", -1, 0, 0, 0},
	{"\n" RULE, "\n" RULE, -1, 0, 0, 0},
	{"\n", "\n", -1, 0, 0, 0},
	{"=   not a banner\n", "=   not a banner\n", -1, 0, 0, 0},
	{"[mpiexec@vm] Sending Ctrl-C to processes as requested\n[mpiexec@vm] Press Ctrl-C again to force abort\nx\n",
		"x\n", -1, 0, 0, 0},
	{"[0] a\n[1] b\n[12] c\n[x] d\n[3]e\nf [1] g\n", "[4] a\n[5] b\n[16] c\n[x] d\n[3]e\nf [1] g\n", 4, 0, 0, 0},
	{"[0] \n[0] [0] x\n", "[2] \n[2] [0] x\n", 2, 0, 0, 0},
};

static void takes_out_what_is_not_theirs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t piece = 1; piece < 4096; piece = piece * 3 + 1) {
			struct zchatter c;
			char got[2048];
			pump_all(cases[i].in, piece, cases[i].first_vrank, &c, got, sizeof(got));
			assert_string_equal(got, cases[i].out);
			assert_int_equal(c.status, cases[i].status);
			assert_int_equal(c.signal, cases[i].signal);
			assert_int_equal(c.nkilled, cases[i].nkilled);
		}
}

/* A prompt is shown though its line is not finished; the beginning of mpiexec's line is not. */
static void shows_prompt(void **state)
{
	struct zoutput out;
	struct zpump pump;
	struct zchatter c = {0};
	struct zplan_part plan = {.nranks = 3, .first = 2};
	int fd[2];
	(void)state;
	assert_int_equal(pipe(fd), 0);
	zoutput_init(&out, -1);
	zpump_init(&pump, fd[0], &out, &c, &plan);
	assert_int_equal(write(fd[1], "[0] name> ", 10), 10);
	zpump_read(&pump);
	assert_true(zoutput_is_empty(&out));
	assert_true(zpump_timeout(&pump, pump.last_ms) > 0);
	zpump_tick(&pump, pump.last_ms + ZPUMP_QUIET_MS);
	assert_int_equal(out.end - out.begin, 10);
	assert_memory_equal(out.buf + out.begin, "[2] name> ", 10);
	assert_int_equal(write(fd[1], "[mpiexec@vm] Exi", 16), 16);
	zpump_read(&pump);
	assert_int_equal(zpump_timeout(&pump, pump.last_ms + 10 * ZPUMP_QUIET_MS), -1);
	zpump_close(&pump);
	assert_int_equal(out.end - out.begin, 26); /* it was not a line of mpiexec after all */
	close(fd[1]);
	zoutput_free(&out);
}

#define ABORT "Abort(7) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 7) - process 0\n"
#define FATAL "Abort(5) on node 0 (rank 0 in comm 0): Fatal error in internal_Send: Invalid rank, error stack:\n"

/* The native library's words about MPI_Abort may come before zipperd has told of it. */
static void holds_back_abort(void **state)
{
	static const char in[] = "[0] a\n[1] " ABORT FATAL, early[] = "[2] a\n" FATAL, late[] = "[3] " ABORT;
	(void)state;
	for (int told = 0; told < 2; told++) {
		struct zoutput out;
		struct zpump pump;
		struct zplan_part plan = {.nranks = 3, .first = 2};
		bool hush = false;
		int fd[2];
		assert_int_equal(pipe(fd), 0);
		zoutput_init(&out, -1);
		zpump_init(&pump, fd[0], &out, NULL, &plan);
		pump.hush = &hush;
		pump.holds = true;
		assert_int_equal(write(fd[1], in, strlen(in)), (ssize_t)strlen(in));
		close(fd[1]);
		zpump_read(&pump);
		assert_int_equal(out.end - out.begin, strlen(early));
		assert_memory_equal(out.buf + out.begin, early, strlen(early));
		hush = told;
		zpump_close(&pump);
		zpump_fini(&pump);
		assert_int_equal(out.end - out.begin, strlen(early) + (told ? 0 : strlen(late)));
		assert_memory_equal(out.buf + out.begin + strlen(early), late, told ? 0 : strlen(late));
		zoutput_free(&out);
	}
}

/* mpiexec tells that it does not reach a host. Its further complaints are dropped, before anything is hushed. */
static void drops_what_follows_a_failed_launch(void **state)
{
	static const char in[] =
		"[mpiexec@a] an error\nssh: no route\n[mpiexec@a] ui_cmd_cb (x.c:51): Launch proxy failed.\n"
		"[mpiexec@a] main (y.c:260): error\nssh: bye\n",
			  out_text[] = "[mpiexec@a] an error\nssh: no route\nssh: bye\n";
	struct zoutput out;
	struct zpump pump;
	bool hush = false;
	int fd[2];
	(void)state;
	assert_int_equal(pipe(fd), 0);
	zoutput_init(&out, -1);
	zpump_init(&pump, fd[0], &out, NULL, NULL);
	pump.hush = &hush;
	assert_int_equal(write(fd[1], in, strlen(in)), (ssize_t)strlen(in));
	close(fd[1]);
	assert_false(pump.unreached);
	zpump_read(&pump);
	assert_true(pump.unreached);
	assert_int_equal(out.end - out.begin, strlen(out_text));
	assert_memory_equal(out.buf + out.begin, out_text, strlen(out_text));
	zpump_close(&pump);
	zpump_fini(&pump);
	zoutput_free(&out);
}

#define LOST "[mpiexec@vm] control_cb (pm/pmiserv/pmiserv_cb.c:315): assert (!closed) failed\n"
#define MORE "[mpiexec@vm] main (ui/mpich/mpiexec.c:325): process manager error waiting for completion\n"
#define SLOW "[proxy:0:0@vm] control_cmd_cb (pm/pmip_cb.c:934): process reading stdin too slowly; can't keep up\n"

/* An mpiexec that breaks down ends soon. Its words are shown if zmpirun has none of its own. */
static void holds_back_breakdown(void **state)
{
	static const char in[] = MORE "a\n" LOST MORE "b\n" SLOW, early[] = MORE "a\nb\n", late[] = LOST MORE SLOW;
	(void)state;
	for (int told = 0; told < 2; told++) {
		struct zoutput out;
		struct zpump pump;
		bool hush = false;
		int fd[2];
		assert_int_equal(pipe(fd), 0);
		zoutput_init(&out, -1);
		zpump_init(&pump, fd[0], &out, NULL, NULL);
		pump.hush = &hush;
		assert_int_equal(write(fd[1], in, strlen(in)), (ssize_t)strlen(in));
		zpump_read_all(&pump);
		assert_true(pump.broken && pump.slow_reader);
		assert_int_equal(out.end - out.begin, strlen(early));
		assert_memory_equal(out.buf + out.begin, early, strlen(early));
		hush = told;
		close(fd[1]);
		zpump_close(&pump);
		zpump_fini(&pump);
		assert_int_equal(out.end - out.begin, strlen(early) + (told ? 0 : strlen(late)));
		assert_memory_equal(out.buf + out.begin + strlen(early), late, told ? 0 : strlen(late));
		zoutput_free(&out);
	}
}

static void finds_programs_that_do_not_start(void **state)
{
	static const struct {
		const char *line, *said;
	} samples[] = {
		{"[proxy:0:0@n1] HYDU_create_process (utils/launch/launch.c:73): execvp error on file ./heaat (No such "
		 "file or directory)\n",
			"host n1 cannot start ./heaat (No such file or directory)"},
		{"[12] [proxy:0@n2] HYDU_create_process (lib/utils/launch.c:24): execvp error on file x (Permission "
		 "denied)\n",
			"host n2 cannot start x (Permission denied)"},
		{"[proxy:0:0@n1] launch_procs (pm/pmiserv/pmip_cb.c:621): unable to change wdir to /x (No such file or "
		 "directory)\n",
			"host n1 cannot change to the directory /x (No such file or directory)"},
		{"[0] [proxy:0:0@n1] [1] [proxy:0:0@n1] HYDU_create_process (utils/launch/launch.c:73): execvp error "
		 "on "
		 "file x (No such file or directory)\n",
			"host n1 cannot start x (No such file or directory)"},
		{"[0] HYDU_create_process (utils/launch/launch.c:73): [0] execvp error on file x (No such file or "
		 "directory)\n",
			"cannot start x (No such file or directory)"},
		{"execvp error on file ./heaat (No such file or directory)\n", NULL},
		{"[0] execvp error on file ./heaat (No such file or directory)\n", NULL},
		{"[proxy:0:0@n1] launch_procs returned error\n", NULL},
	};
	char said[128], cut[8];
	(void)state;
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		assert_int_equal(zchatter_is_unstarted(samples[i].line, strlen(samples[i].line), said, sizeof(said)),
			samples[i].said != NULL);
		if (samples[i].said)
			assert_string_equal(said, samples[i].said);
	}
	assert_true(zchatter_is_unstarted(samples[0].line, strlen(samples[0].line), cut, sizeof(cut)));
	assert_string_equal(cut, "host n1");
}

/* Two ranks cannot start. Their proxy prints each line in three pieces, mpiexec labels them and may be late with the
 * rest of a line. */
static void says_once_what_does_not_start(void **state)
{
#define PREFIX "[proxy:0:0@vm] "
#define WHERE "HYDU_create_process (utils/launch/launch.c:73): "
#define WHY "execvp error on file ./heaat (No such file or directory)\n"
	static const char *const pieces[][6] = {
		{"[0] " PREFIX, "[0] " WHERE, "[0] " WHY, "[1] " PREFIX, "[1] " WHERE, "[1] " WHY},
		{"[0] " PREFIX, "[1] " PREFIX, "[1] " WHERE, "[1] " WHY, "[0] " WHERE, "[0] " WHY},
		{"[0] " PREFIX, "[1] " PREFIX, "[0] " WHERE, "[1] " WHERE, "[0] " WHY, "[1] " WHY},
		{PREFIX, PREFIX, WHERE, WHY, WHERE, WHY},
	};
	static const char said[] = "zmpirun: host vm cannot start ./heaat (No such file or directory)\n";
	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct zplan_part plan = {.nranks = 2};
		struct zoutput out;
		struct zpump pump;
		bool hush = false;
		int fd[2];
		assert_int_equal(pipe(fd), 0);
		zoutput_init(&out, -1);
		zpump_init(&pump, fd[0], &out, NULL, &plan);
		pump.hush = &hush;
		for (int k = 0; k < 6; k++) {
			assert_int_equal(write(fd[1], pieces[i][k], strlen(pieces[i][k])), strlen(pieces[i][k]));
			zpump_read(&pump);
			zpump_tick(&pump, pump.last_ms + ZPUMP_QUIET_MS);
		}
		close(fd[1]);
		zpump_close(&pump);
		zpump_fini(&pump);
		assert_int_equal(out.end - out.begin, sizeof(said) - 1);
		assert_memory_equal(out.buf + out.begin, said, sizeof(said) - 1);
		zoutput_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_out_what_is_not_theirs),
		cmocka_unit_test(shows_prompt),
		cmocka_unit_test(holds_back_abort),
		cmocka_unit_test(drops_what_follows_a_failed_launch),
		cmocka_unit_test(holds_back_breakdown),
		cmocka_unit_test(finds_programs_that_do_not_start),
		cmocka_unit_test(says_once_what_does_not_start),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
