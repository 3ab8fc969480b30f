/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of zipper nodes as text: in ZIPPER_PORTS, and when ranks join. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/hosts/ports.h"

static struct zports ports;

static const struct {
	const char *text;
	uint32_t lrank;
	const char *found;
} good[] = {
	{"", 0, ""},
	{"a=tcp:10.1.0.1:5 b=shm", 7, "a=tcp:10.1.0.1:5 b=shm"},
	{"2-3 a=shm:@x;5 b=mlx4_0:2;", 2, "a=shm:@x"},
	{"2-3 a=shm:@x;5 b=mlx4_0:2;", 3, "a=shm:@x"},
	{" 2-3 a=shm:@x; 5  b=mlx4_0:2;", 5, "b=mlx4_0:2"},
	{"2-3 a=shm:@x;5 b=mlx4_0:2;", 4, ""},
	{"2 a=shm;c=shm", 9, "c=shm"},
};

static void finds_ports_of_a_rank(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct zerr err = {{0}};
		char text[256];
		if (zports_find(&ports, good[i].text, good[i].lrank, &err) != 0)
			fail_msg("%s: %s", good[i].text, err.text);
		assert_int_equal(zports_format(&ports, text, sizeof(text)), 0);
		assert_string_equal(text, good[i].found);
	}
}

static const struct {
	const char *text, *error;
} bad[] = {
	{"a", "'a' is not of the form FABRIC=ADDRESS"},
	{"=shm", "'' is no name of a fabric"},
	{"a,b=shm", "'a,b' is no name of a fabric"},
	{"a=shm a=shm", "fabric a is given twice"},
	{"a=tcp:", "bad address \"tcp:\": no proper host name in it"},
	{"3-2 a=shm", "'3-2 a=shm' does not begin with a rank or range of ranks"},
	{"3x a=shm", "'3x a=shm' does not begin with a rank or range of ranks"},
	{"3", "'3' does not begin with a rank or range of ranks"},
	{"0-99999999 a=shm", "'0-99999999 a=shm' does not begin with a rank or range of ranks"},
};

static void refuses(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zerr err = {{0}};
		assert_int_equal(zports_find(&ports, bad[i].text, 0, &err), -EINVAL);
		assert_string_equal(err.text, bad[i].error);
	}
	char many[ZCTL_PARTS_MAX * 10] = "";
	struct zerr err = {{0}};
	for (int i = 0; i <= ZCTL_PARTS_MAX; i++)
		sprintf(many + strlen(many), "f%d=shm ", i);
	assert_int_equal(zports_parse(&ports, many, &err), -EINVAL);
	assert_string_equal(err.text, "more than 64 fabrics");
}

static void says_when_there_is_no_room(void **state)
{
	struct zerr err = {{0}};
	char text[16];
	(void)state;
	assert_int_equal(zports_parse(&ports, "a=shm b=shm:@y", &err), 0);
	assert_int_equal(zports_format(&ports, text, sizeof(text)), 0);
	assert_int_equal(zports_format(&ports, text, 14), -EMSGSIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_ports_of_a_rank),
		cmocka_unit_test(refuses),
		cmocka_unit_test(says_when_there_is_no_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
