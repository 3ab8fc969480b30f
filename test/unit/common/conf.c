/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration tables: values of every type, every error with its place, the environment, and printing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/config/conf.h"
#include "common/config/conf_print.h"
#include "test/unit/common/corpus.h"

struct conf {
	int64_t number, small, bytes, time, choice;
	char *text, *empty;
	char listed[128];
};

static int parse_listen(void *conf, const char *value, struct zerr *err)
{
	struct conf *c = conf;
	if (!strchr(value, '='))
		return zerr_set(err, -EINVAL, "'%.32s' has no '='", value);
	if (strlen(c->listed) + strlen(value) + 2 > sizeof(c->listed))
		return zerr_set(err, -E2BIG, "too many");
	strcat(strcat(c->listed, value), ";");
	return 0;
}

/* For rows whose values are stored before parse is called: the value must be there, and the old one must come back. */
static int refuse_three(void *conf, const char *value, struct zerr *err)
{
	assert_true(strcmp(value, "3") != 0 || ((struct conf *)conf)->small == 3);
	return strcmp(value, "3") == 0 ? zerr_set(err, -EINVAL, "not three") : 0;
}

static int refuse_bad(void *conf, const char *value, struct zerr *err)
{
	assert_string_equal(((struct conf *)conf)->text, value);
	return strcmp(value, "bad") == 0 ? zerr_set(err, -EINVAL, "not good") : 0;
}

static const char *const levels[] = {"error", "warn", "info", NULL};
static const struct zconf_row rows[] = {
	{"number", ZCONF_INT, "7", 0, 0, NULL, offsetof(struct conf, number), NULL, "Any number."},
	{"small", ZCONF_INT, "1", -2, 8, NULL, offsetof(struct conf, small), refuse_three,
		"A small one. It has limits."},
	{"eager_bytes", ZCONF_BYTES, "16K", 1024, 1 << 20, NULL, offsetof(struct conf, bytes), NULL, "A size."},
	{"join_timeout", ZCONF_TIME_MS, "60", 100, 3600000, NULL, offsetof(struct conf, time), NULL, "A time."},
	{"log-level", ZCONF_ENUM, "warn", 0, 0, levels, offsetof(struct conf, choice), NULL, "A level."},
	{"text", ZCONF_STRING, "some text", 0, 0, NULL, offsetof(struct conf, text), refuse_bad, ".A text with \\."},
	{"unset", ZCONF_STRING, NULL, 0, 0, NULL, offsetof(struct conf, empty), NULL, "Nothing."},
	{"listen", ZCONF_CALL, NULL, 0, 0, NULL, 0, parse_listen, "An address."},
	{0},
};

static char path[] = "/tmp/zip-conf.XXXXXX";

static void write_file(const char *text, size_t len)
{
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	fclose(out);
}

static struct conf defaults(void)
{
	struct conf c = {0};
	struct zerr err = {{0}};
	assert_int_equal(zconf_defaults(rows, &c, &err), 0);
	return c;
}

static void sets_defaults(void **state)
{
	struct conf c = defaults();
	(void)state;
	assert_int_equal(c.number, 7);
	assert_int_equal(c.bytes, 16384);
	assert_int_equal(c.time, 60000);
	assert_int_equal(c.choice, 1);
	assert_string_equal(c.text, "some text");
	assert_null(c.empty);
	zconf_free(rows, &c);
	assert_null(c.text);
}

static void looks_at_values(void **state)
{
	struct conf c = defaults();
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(zconf_set(rows, &c, "small", "2", "x", &err), 0);
	assert_int_equal(zconf_set(rows, &c, "small", "3", "x", &err), -EINVAL);
	assert_string_equal(err.text, "x: small: not three");
	assert_int_equal(c.small, 2);
	assert_int_equal(zconf_set(rows, &c, "text", "good", "x", &err), 0);
	assert_int_equal(zconf_set(rows, &c, "text", "bad", "x", &err), -EINVAL);
	assert_string_equal(err.text, "x: text: not good");
	assert_string_equal(c.text, "good");
	zconf_free(rows, &c);
}

static void refuses_bad_default(void **state)
{
	static const struct zconf_row wrong[] = {{"x", ZCONF_INT, "9", 1, 8, NULL, 0, NULL, "X."}, {0}};
	int64_t x;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(zconf_defaults(wrong, &x, &err), -ERANGE);
	assert_string_equal(err.text, "default: x: '9' is not a whole number from 1 to 8");
}

static void reads_every_type(void **state)
{
	static const char text[] = "# a comment\n\n  number=-12\nsmall = 8 # behind\r\n"
				   "eager_bytes = 1m\njoin_timeout\t=\t1500ms\nlog-level = Info\n"
				   "text = \" quoted # text \"\nunset = a#b\nlisten = \"a=1\"\nlisten = b,c=2\n";
	struct conf c = defaults();
	struct zerr err = {{0}};
	(void)state;
	write_file(text, strlen(text));
	assert_int_equal(zconf_read(rows, &c, path, &err), 0);
	assert_int_equal(c.number, -12);
	assert_int_equal(c.small, 8);
	assert_int_equal(c.bytes, 1 << 20);
	assert_int_equal(c.time, 1500);
	assert_int_equal(c.choice, 2);
	assert_string_equal(c.text, " quoted # text ");
	assert_string_equal(c.empty, "a#b");
	assert_string_equal(c.listed, "a=1;b,c=2;");
	zconf_free(rows, &c);
}

static void reads_units(void **state)
{
	static const struct {
		const char *name, *value;
		int64_t expected;
	} good[] = {{"join_timeout", "2", 2000}, {"join_timeout", "2s", 2000}, {"join_timeout", "2M", 120000},
		{"join_timeout", "1h", 3600000}, {"join_timeout", "100ms", 100}, {"eager_bytes", "2048", 2048},
		{"eager_bytes", "4k", 4096}, {"small", "-2", -2}};
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct conf c = defaults();
		struct zerr err = {{0}};
		assert_int_equal(zconf_set(rows, &c, good[i].name, good[i].value, "here", &err), 0);
		int64_t got = *good[i].name == 'j' ? c.time : *good[i].name == 'e' ? c.bytes : c.small;
		assert_int_equal(got, good[i].expected);
		zconf_free(rows, &c);
	}
}

static const struct {
	const char *text, *error; /* behind "PATH:" */
} bad[] = {
	{"nubmer = 1\n", "1: unknown option 'nubmer' (did you mean number?)"},
	{"\n\nzzz = 1\n", "3: unknown option 'zzz'"},
	{"number 1\n", "1: 'number 1' is not of the form 'name = value'"},
	{"= 1\n", "1: no name before '='"},
	{"number = 1\nnumber = 2\n", "2: number is given twice (first in line 1)"},
	{"number =\n", "1: number: '' is not a whole number"},
	{"number = 1x\n", "1: number: '1x' is not a whole number"},
	{"number = 0x\n", "1: number: '0x' is not a whole number"},
	{"number = 0xg\n", "1: number: '0xg' is not a whole number"},
	{"number = 0x1g\n", "1: number: '0x1g' is not a whole number"},
	{"number = +1\n", "1: number: '+1' is not a whole number"},
	{"number = 99999999999999999999\n", "1: number: '99999999999999999999' is not a whole number"},
	{"small = 9\n", "1: small: '9' is not a whole number from -2 to 8"},
	{"eager_bytes = 1000\n", "1: eager_bytes: '1000' is not a number of bytes (suffixes K, M, G) from 1K to 1M"},
	{"eager_bytes = 99999999999G\n",
		"1: eager_bytes: '99999999999G' is not a number of bytes (suffixes K, M, G) from 1K to 1M"},
	{"eager_bytes = 16 K\n", "1: eager_bytes: '16 K' is not a number of bytes (suffixes K, M, G) from 1K to 1M"},
	{"join_timeout = 2d\n",
		"1: join_timeout: '2d' is not a time (suffixes ms, s, m, h; seconds without) from 100ms to 1h"},
	{"log-level = loud\n", "1: log-level: 'loud' is not error, warn or info"},
	{"text = a \"b\"\n", "1: double quotes must stand around the whole value"},
	{"text = \"\n", "1: double quotes must stand around the whole value"},
	{"text = \"a\" b\n", "1: double quotes must stand around the whole value"},
	{"listen = x\n", "1: listen: 'x' has no '='"},
};

static void tells_file_line_and_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct conf c = defaults();
		struct zerr err = {{0}};
		char expected[320];
		snprintf(expected, sizeof(expected), "%s:%s", path, bad[i].error);
		write_file(bad[i].text, strlen(bad[i].text));
		if (zconf_read(rows, &c, path, &err) >= 0)
			fail_msg("accepted: %s", bad[i].text);
		assert_string_equal(err.text, expected);
		zconf_free(rows, &c);
	}
}

static void tells_place_of_single_values(void **state)
{
	struct conf c = defaults();
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(zconf_set(rows, &c, "small", "x", "--small", &err), -EINVAL);
	assert_string_equal(err.text, "--small: small: 'x' is not a whole number from -2 to 8");
	assert_int_equal(c.small, 1); /* unchanged */
	assert_int_equal(zconf_set(rows, &c, "smal", "1", NULL, &err), -ENOENT);
	assert_string_equal(err.text, "unknown option 'smal' (did you mean small?)");
	assert_int_equal(zconf_read(rows, &c, "/nonexistent/conf", &err), -ENOENT);
	assert_string_equal(err.text, "/nonexistent/conf: No such file or directory");
	assert_int_equal(zconf_read(rows, &c, "/", &err), -EISDIR);
	zconf_free(rows, &c);
}

static void reads_environment(void **state)
{
	static const char *const known[] = {"ZIPPER_JOB", NULL};
	struct conf c = defaults();
	struct zerr err = {{0}};
	(void)state;
	setenv("ZIPPER_LOG_LEVEL", "error", 1);
	setenv("ZIPPER_NUMBER", "3", 1);
	setenv("ZIPPER_JOB", "x", 1);
	setenv("ZIPPERY", "not ours", 1);
	assert_int_equal(zconf_environ(rows, &c, "ZIPPER", known, &err), 0);
	assert_int_equal(c.choice, 0);
	assert_int_equal(c.number, 3);
	setenv("ZIPPER_NUMBER", "many", 1);
	assert_int_equal(zconf_environ(rows, &c, "ZIPPER", known, &err), -EINVAL);
	assert_string_equal(err.text, "environment variable ZIPPER_NUMBER: number: 'many' is not a whole number");
	setenv("ZIPPER_NUMBER", "1", 1);
	setenv("ZIPPER_NUMBR", "1", 1);
	assert_int_equal(zconf_environ(rows, &c, "ZIPPER", known, &err), -ENOENT);
	assert_string_equal(err.text, "environment: unknown variable ZIPPER_NUMBR (did you mean ZIPPER_NUMBER?)");
	unsetenv("ZIPPER_NUMBR");
	setenv("ZIPPER_JOBS", "1", 1);
	assert_int_equal(zconf_environ(rows, &c, "ZIPPER", known, &err), -ENOENT);
	assert_string_equal(err.text, "environment: unknown variable ZIPPER_JOBS (did you mean ZIPPER_JOB?)");
	unsetenv("ZIPPER_JOBS");
	zconf_free(rows, &c);
}

/* A printed table is read back as the same. */
static void prints_what_it_reads(void **state)
{
	struct conf c = defaults(), d = defaults();
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(zconf_set(rows, &c, "text", " # ", NULL, &err), 0);
	assert_int_equal(zconf_set(rows, &c, "join_timeout", "90s", NULL, &err), 0);
	assert_int_equal(zconf_set(rows, &c, "eager_bytes", "3000", NULL, &err), 0);
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	zconf_print(rows, &c, out);
	fclose(out);
	assert_int_equal(zconf_read(rows, &d, path, &err), 0);
	assert_string_equal(d.text, " # ");
	assert_int_equal(d.time, 90000);
	assert_int_equal(d.bytes, 3000);
	assert_null(d.empty);
	zconf_free(rows, &c);
	zconf_free(rows, &d);
}

static void prints_manual_page(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	(void)state;
	assert_non_null(out);
	zconf_print_mdoc(rows, out);
	fclose(out);
	assert_non_null(strstr(text, ".It Cm eager_bytes No = Ar bytes\nA size.\nThe value is a number of bytes"));
	assert_non_null(strstr(text, "A small one.\nIt has limits.\n"));
	assert_non_null(strstr(text, "\\&.A text with \\e.\n"));
	assert_non_null(strstr(text, ".It Cm listen No = Ar text\nAn address.\nMay be given more than once.\n"));
	free(text);
}

static void feed(const char *text, size_t len)
{
	struct conf c = defaults();
	struct zerr err = {{0}};
	write_file(text, len);
	if (zconf_read(rows, &c, path, &err) < 0) {
		assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
		assert_null(strchr(err.text, '\n'));
	}
	zconf_free(rows, &c);
}

static void survives_corpus(void **state)
{
	(void)state;
	assert_true(corpus_replay("conf", feed) >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sets_defaults),
		cmocka_unit_test(looks_at_values),
		cmocka_unit_test(refuses_bad_default),
		cmocka_unit_test(reads_every_type),
		cmocka_unit_test(reads_units),
		cmocka_unit_test(tells_file_line_and_reason),
		cmocka_unit_test(tells_place_of_single_values),
		cmocka_unit_test(reads_environment),
		cmocka_unit_test(prints_what_it_reads),
		cmocka_unit_test(prints_manual_page),
		cmocka_unit_test(survives_corpus),
	};
	int fd = mkstemp(path);
	if (fd < 0)
		return 99;
	close(fd);
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return rc;
}
