/* SPDX-License-Identifier: BSD-3-Clause */
/* Log lines and error texts: levels, prefixes, cutting, and no control characters from a peer. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/log.h"

static FILE *capture;
static int saved_stderr;

static int begin(void **state)
{
	(void)state;
	capture = tmpfile();
	fflush(stderr);
	saved_stderr = dup(2);
	return !capture || saved_stderr < 0 || dup2(fileno(capture), 2) < 0;
}

static int end(void **state)
{
	(void)state;
	unsetenv("JOURNAL_STREAM");
	dup2(saved_stderr, 2);
	close(saved_stderr);
	return fclose(capture);
}

/* The lines that were logged since the last call. */
static const char *logged(void)
{
	static char text[8192];
	rewind(capture);
	size_t n = fread(text, 1, sizeof(text) - 1, capture);
	text[n] = 0;
	if (ftruncate(fileno(capture), 0) < 0)
		abort();
	rewind(capture);
	return text;
}

static void drops_lines_above_the_level(void **state)
{
	(void)state;
	zlog_init("me", ZLOG_WARN);
	errno = E2BIG;
	zlog(ZLOG_INFO, "no");
	zlog(ZLOG_DEBUG, "no");
	zlog(ZLOG_WARN, "%d of %s", 3, "them");
	zlog(ZLOG_ERROR, "x");
	assert_int_equal(errno, E2BIG);
	assert_string_equal(logged(), "me: warn: 3 of them\nme: error: x\n");
	zlog_init("me", ZLOG_DEBUG);
	zlog(ZLOG_INFO, "plain");
	zlog(ZLOG_DEBUG, "d");
	assert_string_equal(logged(), "me: plain\nme: debug: d\n");
}

static void prefixes_priority_for_the_journal_only(void **state)
{
	(void)state;
	struct stat st;
	char stream[64];
	assert_int_equal(fstat(2, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	zlog_init("me", ZLOG_DEBUG);
	zlog(ZLOG_ERROR, "a");
	zlog(ZLOG_WARN, "b");
	zlog(ZLOG_INFO, "c");
	zlog(ZLOG_DEBUG, "d");
	assert_string_equal(logged(), "<3>a\n<4>b\n<6>c\n<7>d\n");
	setenv("JOURNAL_STREAM", "1:1", 1);
	zlog_init("me", ZLOG_DEBUG);
	zlog(ZLOG_INFO, "c");
	assert_string_equal(logged(), "me: c\n");
}

static void keeps_one_line_one_line(void **state)
{
	(void)state;
	zlog_init("me", ZLOG_INFO);
	zlog(ZLOG_INFO, "a\nb\x1b[31m\x7f");
	assert_string_equal(logged(), "me: a?b?[31m?\n");
	char big[5000];
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	zlog(ZLOG_INFO, "%s", big);
	const char *text = logged();
	size_t len = strlen(text);
	assert_true(len > 500 && len < 2000);
	assert_true(strchr(text, '\n') == text + len - 1);
}

static void error_texts_are_cut_to_fit(void **state)
{
	(void)state;
	struct zerr err;
	char big[2 * sizeof(err.text)];
	memset(big, 'y', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	assert_int_equal(zerr_set(&err, -EIO, "%s", big), -EIO);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(zerr_prefix(&err, -EPERM, "file:%d", 7), -EPERM);
	assert_int_equal(strncmp(err.text, "file:7: yyy", 11), 0);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_int_equal(zerr_prefix(&err, -EPERM, "%s", big), -EPERM);
	assert_int_equal(err.text[0], 'y');
	assert_int_equal(zerr_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(zerr_prefix(NULL, -EIO, "x"), -EIO);
}

/* A pipe of packets tells how many writes there were. */
static void prints_lines_in_one_piece(void **state)
{
	(void)state;
	char long_text[600], text[8192], want[1024];
	int ends[2];
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	assert_int_equal(pipe2(ends, O_DIRECT), 0);
	assert_int_equal(dup2(ends[1], 2), 2);
	errno = E2BIG;
	zerr_print("me: %s: %d\n", long_text, 7);
	assert_int_equal(errno, E2BIG);
	ssize_t n = read(ends[0], text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = 0;
	snprintf(want, sizeof(want), "me: %s: 7\n", long_text);
	assert_string_equal(text, want);
	zerr_print("%5000d\n", 1);
	n = read(ends[0], text, sizeof(text));
	assert_int_equal(n, 4095);
	assert_int_equal(text[n - 1], '\n');
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(dup2(fileno(capture), 2), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(drops_lines_above_the_level, begin, end),
		cmocka_unit_test_setup_teardown(prefixes_priority_for_the_journal_only, begin, end),
		cmocka_unit_test_setup_teardown(keeps_one_line_one_line, begin, end),
		cmocka_unit_test_setup_teardown(prints_lines_in_one_piece, begin, end),
		cmocka_unit_test(error_texts_are_cut_to_fit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
