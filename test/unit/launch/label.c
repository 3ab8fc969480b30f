/* SPDX-License-Identifier: BSD-3-Clause */
/* The labels that launchers put in front of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "launch/io/label.h"

/* The label is the first `length` bytes; 0: there is none. */
static const struct {
	enum zlabel kind;
	const char *line;
	size_t length;
	long lrank;
} cases[] = {
	{ZLABEL_HYDRA, "[3] text\n", 4, 3},
	{ZLABEL_HYDRA, "[12345] [6] text\n", 8, 12345},
	{ZLABEL_HYDRA, "[3]  text\n", 4, 3}, /* the second blank is the rank's */
	{ZLABEL_HYDRA, "[3]text\n", 0, 0},
	{ZLABEL_HYDRA, "[] text\n", 0, 0},
	{ZLABEL_HYDRA, "[-1] text\n", 0, 0},
	{ZLABEL_HYDRA, "[123456789] text\n", 0, 0},
	{ZLABEL_HYDRA, "3: text\n", 0, 0},
	{ZLABEL_HYDRA, "[1,3]<stdout>:text\n", 0, 0},
	{ZLABEL_SRUN, "3: text\n", 3, 3},
	{ZLABEL_SRUN, "  13: text\n", 6, 13},
	{ZLABEL_SRUN, "text: text\n", 0, 0},
	{ZLABEL_SRUN, "[3] text\n", 0, 0},
	{ZLABEL_OMPI, "[1,3]<stdout>:text\n", 14, 3},
	{ZLABEL_OMPI, "[1,3]<stderr>: text\n", 14, 3}, /* the blank is the rank's */
	{ZLABEL_OMPI, "[4294967,12]<stdout>:\n", 21, 12},
	{ZLABEL_OMPI, "[1,3]<stdin>:text\n", 0, 0},
	{ZLABEL_OMPI, "[1,3]text\n", 0, 0},
	{ZLABEL_OMPI, "[1]<stdout>:text\n", 0, 0},
	{ZLABEL_OMPI_BLANK, "[1,3]<stdout>: text\n", 15, 3},
	{ZLABEL_OMPI_BLANK, "[1,3]<stdout>:  text\n", 15, 3},
	{ZLABEL_OMPI_BLANK, "[1,3]<stdout>:text\n", 0, 0},
};
#define NCASES (sizeof(cases) / sizeof(cases[0]))

static void labels_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCASES; i++) {
		long lrank = -1;
		const size_t n = zlabel_scan(cases[i].kind, cases[i].line, strlen(cases[i].line), &lrank);
		if (n != cases[i].length || (n > 0 && lrank != cases[i].lrank))
			fail_msg("%zu bytes and rank %ld of: %s", n, lrank, cases[i].line);
	}
}

/* A line that has come as far as its label, or less, goes on; one byte more and it may be shown. */
static void labels_are_not_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < NCASES; i++)
		for (size_t len = 1; cases[i].length > 0 && len < cases[i].length; len++) {
			char text[32] = "";
			long lrank;
			memcpy(text, cases[i].line, len); /* a read behind that finds no label */
			assert_int_equal(zlabel_scan(cases[i].kind, text, len, &lrank), 0);
			/* the blank of srun's label may be missing, as its colon is the end */
			if (cases[i].kind != ZLABEL_SRUN || len + 1 < cases[i].length)
				assert_true(zlabel_may_go_on(cases[i].kind, text, len));
		}
	assert_false(zlabel_may_go_on(ZLABEL_HYDRA, "[3] t", 5));
	assert_false(zlabel_may_go_on(ZLABEL_HYDRA, "prompt", 6));
	assert_false(zlabel_may_go_on(ZLABEL_SRUN, "3: t", 4));
	assert_false(zlabel_may_go_on(ZLABEL_OMPI, "[1,3]<stdout>:t", 15));
	assert_false(zlabel_may_go_on(ZLABEL_OMPI_BLANK, "[1,3]<stdout>: t", 16));
	assert_false(zlabel_may_go_on(ZLABEL_OMPI_BLANK, "prompt", 6));
}

static void labels_are_skipped(void **state)
{
	static const char *const lines[][2] = {{"[3] text", "text"}, {"[1,3]<stderr>:text", "text"},
		{"[1,3]<stderr>: text", "text"}, {"text", "text"}, {"[mpiexec@a] text", "[mpiexec@a] text"}, {"", ""}};
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t len = strlen(lines[i][0]);
		const char *rest = zlabel_skip(lines[i][0], &len);
		assert_string_equal(rest, lines[i][1]);
		assert_int_equal(len, strlen(lines[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_found),
		cmocka_unit_test(labels_are_not_cut),
		cmocka_unit_test(labels_are_skipped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
