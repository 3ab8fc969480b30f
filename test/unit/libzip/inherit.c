/* SPDX-License-Identifier: BSD-3-Clause */
/* What child processes of a rank inherit: LD_PRELOAD without the library, in every form in which it may stand there,
 * and the variables of the table, each of which must be known here. This program stands for the library. */
#include <ctype.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libzip/start/env.h"
#include "libzip/start/inherit.h"
#include "libzip/start/member.h"

static char self[PATH_MAX]; /* as the dynamic linker calls it */
static const char *name;    /* without folder */

/* Checks LD_PRELOAD after the rank has left the job. %s in list is word. want NULL: it is not set. */
static void check(const char *list, const char *word, const char *want)
{
	char text[3 * PATH_MAX];

	snprintf(text, sizeof(text), list, word);
	setenv("LD_PRELOAD", text, 1);
	zinherit_leave_job();
	if (want)
		assert_string_equal(getenv("LD_PRELOAD"), want);
	else
		assert_null(getenv("LD_PRELOAD"));
}

/* The answer of the library in a child process that has this environment. */
static bool child_is_of_member(void)
{
	const pid_t child = fork();
	int status;

	if (child == 0)
		_exit(zmember_has_started_us());
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The first test: this process is no member yet. */
static void test_member(void **state)
{
	(void)state;
	char own[80], other[96];

	unsetenv(ZMEMBER_VARIABLE);
	zmember_sign();
	assert_null(getenv(ZMEMBER_VARIABLE)); /* no job */
	setenv("ZIPPER_JOB", "job", 1);
	assert_false(child_is_of_member());
	zmember_sign();
	snprintf(own, sizeof(own), "%s", getenv(ZMEMBER_VARIABLE));
	assert_false(child_is_of_member()); /* this process may be a script around the member */
	zmember_show();
	assert_true(child_is_of_member());
	assert_false(zmember_has_started_us()); /* itself */
	setenv("ZIPPER_JOB", "other", 1);
	assert_false(child_is_of_member());
	setenv("ZIPPER_JOB", "job", 1);
	snprintf(other, sizeof(other), "1%s", own); /* another process, or none */
	setenv(ZMEMBER_VARIABLE, other, 1);
	assert_false(child_is_of_member());
	setenv(ZMEMBER_VARIABLE, "nonsense", 1);
	assert_false(child_is_of_member());
	setenv(ZMEMBER_VARIABLE, own, 1);
	zinherit_leave_job();
	assert_null(getenv(ZMEMBER_VARIABLE));
	assert_false(child_is_of_member());
}

static void test_preload(void **state)
{
	(void)state;
	char folder[] = "/tmp/zip-inherit.XXXXXX", link[PATH_MAX], whole[PATH_MAX];

	check("%s", self, NULL);
	check("%s:", self, NULL);
	check(" :%s", self, NULL);
	check("/x/a.so:%s:/x/b.so", self, "/x/a.so:/x/b.so");
	check("/x/a.so %s  b.so", self, "/x/a.so:b.so");
	check("%s:libasan.so", self, "libasan.so");
	check("a.so:%s", name, "a.so"); /* by LD_LIBRARY_PATH */
	snprintf(link, sizeof(link), "/nowhere/%.64s", name);
	check("%s", link, link); /* another one of that name */
	check("%s", "", NULL);

	assert_non_null(mkdtemp(folder));
	snprintf(link, sizeof(link), "%s/link.so", folder);
	assert_non_null(realpath(self, whole));
	assert_int_equal(symlink(whole, link), 0);
	check("%s:c.so", link, "c.so");
	unlink(link);
	rmdir(folder);

	unsetenv("LD_PRELOAD");
	zinherit_leave_job();
	assert_null(getenv("LD_PRELOAD"));
}

/* Variables that do not belong to one job. */
static const char *const staying[] = {"DIRECT", "LOG", "WAIT", "PROGRESS", "REPRESENTATION", "TUNING", "TUNE", "SHARED",
	"NODE", "NODE_PROGRAM", "ENDPOINTS", "TIMEOUT", "ONE_SIDED", "MODULE_DIR"};
/* Variables of a job. */
static const char *const leaving[] = {"RECONNECT", "JOB", "PARTS", "PART", "ZIPPERD", "ENTRIES", "LAUNCHER", "APPNUM",
	"RAILS", "HOSTFILE", "MAP", "PORTS", "PROFILE", "STATS", "DEVICE"};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool is_in(const char *suffix, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], suffix) == 0)
			return true;
	return false;
}

/* Every row of the table stays or leaves. A new row has to be put into a list here, and perhaps into inherit.c. */
static void test_table(void **state)
{
	(void)state;
	char variable[64];

	for (int leave = 0; leave <= 1; leave++) {
		for (const struct zconf_row *row = zenv_rows; row->name; row++) {
			snprintf(variable, sizeof(variable), "ZIPPER_%s", row->name);
			for (char *p = variable; *p; p++)
				*p = (char)toupper((unsigned char)*p);
			const char *suffix = variable + strlen("ZIPPER_");
			const bool leaves = is_in(suffix, leaving, COUNT(leaving));
			const bool stays = is_in(suffix, staying, COUNT(staying)) || strncmp(suffix, "VERBS_", 6) == 0;
			if (leaves == stays)
				fail_msg("%s: does it leave or stay?", variable);
			if (!leave)
				setenv(variable, "value", 1);
			else if ((getenv(variable) == NULL) != leaves)
				fail_msg("%s: it should %s", variable, leaves ? "leave" : "stay");
		}
		if (!leave)
			zinherit_leave_job();
	}
}

/* No secret stays. The user's name stays, unless zmpirun has set it for this job. */
static void test_credentials(void **state)
{
	(void)state;
	static const char *const credentials[] = {"ZIPPER_USER", "ZIPPER_CREDENTIAL", "ZIPPER_KEY", "ZIPPER_KEY_FILE"};

	for (int launched = 0; launched <= 1; launched++) {
		for (size_t i = 0; i < COUNT(credentials); i++)
			setenv(credentials[i], "mine", 1);
		setenv("ZIPPER_LAUNCHER", launched ? "zmpirun" : "", 1);
		zinherit_leave_job();
		assert_int_equal(getenv("ZIPPER_USER") == NULL, launched);
		assert_null(getenv("ZIPPER_CREDENTIAL"));
		assert_null(getenv("ZIPPER_KEY"));
		assert_string_equal(getenv("ZIPPER_KEY_FILE"), "mine");
	}
}

/* Variables of others stay. */
static void test_others(void **state)
{
	(void)state;
	setenv("PMI_RANK", "3", 1);
	setenv("LD_LIBRARY_PATH", "/x", 1);
	setenv("ZIPPER", "x", 1);
	setenv("ZIPPER_JOBS", "x", 1);
	zinherit_leave_job();
	assert_string_equal(getenv("PMI_RANK"), "3");
	assert_string_equal(getenv("LD_LIBRARY_PATH"), "/x");
	assert_string_equal(getenv("ZIPPER"), "x");
	assert_string_equal(getenv("ZIPPER_JOBS"), "x");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_member),
		cmocka_unit_test(test_preload),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_credentials),
		cmocka_unit_test(test_others),
	};

	(void)argc;
	snprintf(self, sizeof(self), "%s", argv[0]);
	name = strrchr(self, '/') ? strrchr(self, '/') + 1 : self;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
