/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines by table. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/args/args.h"
#include "common/args/value.h"

struct options {
	const char *text;
	bool flag;
	int i;
	unsigned u;
	int64_t i64;
	uint64_t u64;
	double real;
	unsigned calls;
};

static int take(void *field, char *value, struct zerr *err)
{
	if (!strcmp(value, "no"))
		return zerr_set(err, -EINVAL, "never no");
	++*(unsigned *)field;
	return 0;
}

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct options, member)
static const struct zargs_row rows[] = {
	{.name = "text", .letter = 'x', FIELD(TEXT, text)},
	{.name = "flag", .letter = 'f', FIELD(FLAG, flag)},
	{.name = "int", FIELD(INT, i), .max = 9},
	{.name = "unsigned", FIELD(UNSIGNED, u), .min = 1, .max = 1 << 20},
	{.name = "i64", FIELD(I64, i64), .max = UINT64_C(1) << 40},
	{.name = "u64", .letter = 'u', FIELD(U64, u64), .max = UINT64_MAX},
	{.name = "real", FIELD(REAL, real), .low = -1.5, .high = 100},
	{.name = "call", FIELD(CALL, calls), .take = take},
	{.name = NULL},
};

/* Splits the line; the words stay valid until the next call. */
static int parse(struct options *o, const char *line, char **first, struct zerr *err)
{
	static char copy[256], *argv[32];
	int argc = 0, at = 0, rc;
	char *rest = copy;

	strcpy(copy, line);
	argv[argc++] = (char *)"program";
	while ((argv[argc] = strsep(&rest, " ")))
		argc += argv[argc][0] != '\0';
	const struct zargs a = {.program = "prog cmd",
		.operands = "ONE TWO",
		.least = first ? 1 : 0,
		.most = first ? 2 : 0,
		.rows = rows};
	rc = zargs_parse(&a, o, argc, argv, first ? &at : NULL, err);
	if (first)
		*first = argv[at];
	return rc;
}

static void test_values(void **state)
{
	struct options o = {.u = 7};
	struct zerr err;
	char *first;

	(void)state;
	assert_int_equal(parse(&o, "--text a --int=9 -fu 2K --call 1 --i64 1024G --call 2", NULL, &err), 0);
	assert_string_equal(o.text, "a");
	assert_true(o.flag);
	assert_int_equal(o.i, 9);
	assert_int_equal(o.u, 7);
	assert_int_equal(o.i64, INT64_C(1) << 40);
	assert_int_equal(o.u64, 2048);
	assert_int_equal(o.calls, 2);
	assert_int_equal(parse(&o, "file -xb --unsi 1M other", &first, &err), 0);
	assert_string_equal(o.text, "b");
	assert_int_equal(o.u, 1 << 20);
	assert_string_equal(first, "file");
	assert_int_equal(parse(&o, "-u 18446744073709551615 -- --int", &first, &err), 0);
	assert_true(o.u64 == UINT64_MAX);
	assert_string_equal(first, "--int");
	assert_int_equal(parse(&o, "--real 2.5e1", NULL, &err), 0);
	assert_true(o.real == 25);
	assert_int_equal(parse(&o, "--real -1.5", NULL, &err), 0);
	assert_true(o.real == -1.5);
}

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} cases[] = {
		{"0", 0, 0},
		{"64K", 0, 65536},
		{"64k", 0, 65536},
		{"1.5K", 0, 1536},
		{"0.5G", 0, UINT64_C(1) << 29},
		{"1e6", 0, 1000000},
		{"2.5e3", 0, 2500},
		{"1.2", -EINVAL, 0},
		{"1.0001K", -EINVAL, 0},
		{"1e-1", -EINVAL, 0},
		{"1e30", -ERANGE, 0},
		{"1e999", -ERANGE, 0},
		{"1KB", -EINVAL, 0},
		{"1m", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"K", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"0x10", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t v = 0;

		assert_int_equal(zargs_parse_u64(cases[i].text, &v), cases[i].rc);
		assert_true(v == cases[i].value);
	}
}

static void test_refusals(void **state)
{
	static const struct {
		const char *line, *why;
	} bad[] = {
		{"--int 10", "--int: \"10\" is not a number from 0 to 9"},
		{"--int -1", "--int: \"-1\" is not a number from 0 to 9"},
		{"--unsigned 0", "--unsigned: \"0\" is not a number from 1 to 1048576"},
		{"--u64 18446744073709551616", "--u64: \"18446744073709551616\" is not a number from 0 to "
					       "18446744073709551615"},
		{"--u64 17179869184G", "--u64: \"17179869184G\" is not a number from 0 to 18446744073709551615"},
		{"--i64 1T", "--i64: \"1T\" is not a number from 0 to 1099511627776"},
		{"--call no", "never no"},
		{"--real 100.1", "--real: \"100.1\" is not a number from -1.5 to 100"},
		{"--real 1x", "--real: \"1x\" is not a number from -1.5 to 100"},
		{"--real inf", "--real: \"inf\" is not a number from -1.5 to 100"},
		{"--text", "--text needs a value; try prog cmd --help"},
		{"-f -x", "-x needs a value; try prog cmd --help"},
		{"--flag=yes", "--flag takes no value"},
		{"--help=x", "--help takes no value"},
		{"--tect a", "there is no option --tect; did you mean --text?"},
		{"--tect=a", "there is no option --tect; did you mean --text?"},
		{"--hlep", "there is no option --hlep; did you mean --help?"},
		{"--u 1", "--u begins several options; try prog cmd --help"},
		{"--zzzzzz", "there is no option --zzzzzz; try prog cmd --help"},
		{"-fz", "there is no option -z; try prog cmd --help"},
		{"--flag -zf", "there is no option -z; try prog cmd --help"},
		{"word", "unexpected argument \"word\"; try prog cmd --help"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct options o = {.u = 1};
		struct zerr err = {""};

		assert_int_equal(parse(&o, bad[i].line, NULL, &err), -EINVAL);
		assert_string_equal(err.text, bad[i].why);
		assert_true(o.real == 0);
		assert_true(!o.i && o.u == 1 && !o.u64 && !o.i64);
	}
}

static void test_operands(void **state)
{
	struct options o = {.u = 1};
	struct zerr err = {""};
	char *first;

	(void)state;
	assert_int_equal(parse(&o, "-f", &first, &err), -EINVAL);
	assert_string_equal(err.text, "missing argument: ONE TWO; try prog cmd --help");
	assert_int_equal(parse(&o, "a -f b c d", &first, &err), -EINVAL);
	assert_string_equal(err.text, "unexpected argument \"c\"; try prog cmd --help");
	assert_int_equal(parse(&o, "a b", &first, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_operands),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
