/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines by table. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/config/args.h"

struct options {
	const char *text;
	bool flag;
	int i;
	unsigned u;
	int64_t i64;
	uint64_t u64;
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
	rc = zargs_parse(rows, o, argc, argv, first ? &at : NULL, err);
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
	assert_int_equal(parse(&o, "--flag --help --nonsense", NULL, &err), 1);
	assert_int_equal(parse(&o, "-fh", NULL, &err), 1);
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
		{"--text", "--text needs a value"},
		{"-f -x", "-x needs a value"},
		{"--flag=yes", "--flag takes no value"},
		{"--tect a", "--tect is no option (did you mean text?)"},
		{"--zzzzzz", "--zzzzzz is no option"},
		{"-fz", "-z is no option"},
		{"--flag -zf", "-z is no option"},
		{"--help=x", "--help=x is no option"},
		{"word", "\"word\" is no option"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct options o = {.u = 1};
		struct zerr err = {""};

		assert_int_equal(parse(&o, bad[i].line, NULL, &err), -EINVAL);
		assert_string_equal(err.text, bad[i].why);
		assert_true(!o.i && o.u == 1 && !o.u64 && !o.i64);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refusals),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
