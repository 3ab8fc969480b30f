/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses: texts that people write, texts that are refused and why, and the way back to text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/hosts/hops.h"

static const struct {
	const char *text;
	enum zaddr_kind kind;
	const char *host;
	unsigned port;
	const char *canonical;
} good[] = {
	{"tcp:10.1.0.1", ZADDR_TCP, "10.1.0.1", ZADDR_DEFAULT_PORT, "tcp:10.1.0.1:7474"},
	{"tcp:10.1.0.1:0", ZADDR_TCP, "10.1.0.1", 0, "tcp:10.1.0.1:0"},
	{"tcp:10.1.0.1:65535", ZADDR_TCP, "10.1.0.1", 65535, "tcp:10.1.0.1:65535"},
	{"tcp:zip-01.example.org:80", ZADDR_TCP, "zip-01.example.org", 80, "tcp:zip-01.example.org:80"},
	{"tcp:my_host", ZADDR_TCP, "my_host", ZADDR_DEFAULT_PORT, "tcp:my_host:7474"},
	{"tcp:[::1]", ZADDR_TCP, "::1", ZADDR_DEFAULT_PORT, "tcp:[::1]:7474"},
	{"tcp:[fe80::1%eth0]:99", ZADDR_TCP, "fe80::1%eth0", 99, "tcp:[fe80::1%eth0]:99"},
	{"tcp:[::ffff:10.1.0.1]:1", ZADDR_TCP, "::ffff:10.1.0.1", 1, "tcp:[::ffff:10.1.0.1]:1"},
	{"tcp:10.1.0.1/encrypt=yes", ZADDR_TCP, "10.1.0.1", ZADDR_DEFAULT_PORT, "tcp:10.1.0.1:7474/encrypt=yes"},
	{"tcp:10.1.0.1:5/integrity=yes", ZADDR_TCP, "10.1.0.1", 5, "tcp:10.1.0.1:5/integrity=yes"},
	{"tcp:[::1]:5/encrypt=no", ZADDR_TCP, "::1", 5, "tcp:[::1]:5/integrity=no"},
	{"tcp:h/encrypt=no/integrity=yes", ZADDR_TCP, "h", ZADDR_DEFAULT_PORT, "tcp:h:7474/integrity=yes"},
	{"tcp:h/integrity=yes/encrypt=yes", ZADDR_TCP, "h", ZADDR_DEFAULT_PORT, "tcp:h:7474/encrypt=yes"},
	{"shm", ZADDR_SHM, "", 0, "shm"},
	{"shm:/run/zipper/a b", ZADDR_SHM, "/run/zipper/a b", 0, "shm:/run/zipper/a b"},
	{"mlx4_0:1", ZADDR_VERBS, "mlx4_0", 1, "mlx4_0:1"},
	{"mlx4_0:1@10.1.0.1", ZADDR_VERBS, "mlx4_0", 1, "mlx4_0:1@10.1.0.1:7474"},
	{"mlx4_0:2@zip-01:80", ZADDR_VERBS, "mlx4_0", 2, "mlx4_0:2@zip-01:80"},
	{"mlx4_0:2@[fe80::1%ib0]:80", ZADDR_VERBS, "mlx4_0", 2, "mlx4_0:2@[fe80::1%ib0]:80"},
	{"mlx4_0:1@*", ZADDR_VERBS, "mlx4_0", 1, "mlx4_0:1@*:7474"},
	{"mlx4_0:1@*:0", ZADDR_VERBS, "mlx4_0", 1, "mlx4_0:1@*:0"},
	{"mlx5_bond-0.1:255", ZADDR_VERBS, "mlx5_bond-0.1", 255, "mlx5_bond-0.1:255"},
	{"mlx4_0:1/partition=0x8005", ZADDR_VERBS, "mlx4_0", 1, "mlx4_0:1/partition=0x8005"},
	{"mlx4_0:1/gid_index=3/mtu=1024@host", ZADDR_VERBS, "mlx4_0", 1, "mlx4_0:1/mtu=1024/gid_index=3@host:7474"},
	{"mlx4_0:1/gid_index=3/service_level=2/partition=5/traffic_class=106@[::1]:80", ZADDR_VERBS, "mlx4_0", 1,
		"mlx4_0:1/partition=0x5/service_level=2/traffic_class=106/gid_index=3@[::1]:80"},
	{"mlx4_0:1/service_level=0@*:0", ZADDR_VERBS, "mlx4_0", 1, "mlx4_0:1/service_level=0@*:0"},
};

static const struct {
	const char *text, *reason;
} bad[] = {
	{"", "expected"},
	{"10.1.0.1", "expected"},
	{"tcp", "expected"},
	{"tcp:", "host name"},
	{"tcp::80", "host name"},
	{"tcp:a b", "host name"},
	{"tcp:host/80", "\"80\" is none of integrity=yes"},
	{"tcp:host/", "is none of"},
	{"tcp:host/encrypt", "is none of"},
	{"tcp:host/encrypt=1", "is none of"},
	{"tcp:host/encrypt=yes/", "is none of"},
	{"tcp:host/encrypt=yes/encrypt=yes", "each word once"},
	{"tcp:host/encrypt=yes/integrity=no", "has integrity, too"},
	{"tcp:host/mtu=1024", "is none of"},
	{"mlx4_0:1/encrypt=yes", "is none of"},
	{"mlx4_0:1@host/encrypt=yes", "host name"},
	{"tcp:host:", "no port"},
	{"tcp:host:65536", "no port"},
	{"tcp:host:99999999999999999999", "no port"},
	{"tcp:host:-1", "no port"},
	{"tcp:host:+1", "no port"},
	{"tcp:host: 1", "no port"},
	{"tcp:host:80x", "no port"},
	{"tcp:::1", "host name"},
	{"tcp:fe80::1", "brackets"},
	{"tcp:[::1", "[IPV6]"},
	{"tcp:[::1]80", "[IPV6]"},
	{"tcp:[]:80", "[IPV6]"},
	{"tcp:[%]", "[IPV6]"},
	{"tcp:[localhost]:80", "[IPV6]"},
	{"tcp:[::1]:", "no port"},
	{"shm:", "empty"},
	{"shm:relative", "begin with /"},
	{"shmx", "expected"},
	{":1", "expected"},
	{"mlx4_0:", "no port of a device"},
	{"mlx4_0:0", "no port of a device"},
	{"mlx4_0:256", "no port of a device"},
	{"mlx 4:1", "expected"},
	{"mlx4_0@host:1", "expected"},
	{"mlx4_0:@host:1", "no port of a device"},
	{"mlx4_0:1x@host:1", "no port of a device"},
	{"mlx4_0:1@", "host name"},
	{"mlx4_0:1@a b", "host name"},
	{"mlx4_0:1@host:65536", "no port"},
	{"mlx4_0:1@[::1", "[IPV6]"},
	{"mlx4_0:1@*x", "no port"},
	{"mlx4_0:1@*:", "no port"},
	{"mlx4_0:1/", "\"\" is none of partition="},
	{"mlx4_0:1/partition", "\"partition\" is none of"},
	{"mlx4_0:1/partition=", "\"partition=\" is none of"},
	{"mlx4_0:1/partition=65536", "is none of"},
	{"mlx4_0:1/partition=0x", "is none of"},
	{"mlx4_0:1/partition=5x@host", "\"partition=5x\" is none of"},
	{"mlx4_0:1/partition=0", "is none of"},
	{"mlx4_0:1/partition=0x8000", "is none of"},
	{"mlx4_0:1/mtu=1000", "is none of"},
	{"mlx4_0:1/mtu=128", "is none of"},
	{"mlx4_0:1/mtu=8192", "is none of"},
	{"mlx4_0:1/service_level=16", "is none of"},
	{"mlx4_0:1/service_level=-1", "is none of"},
	{"mlx4_0:1/service_level=1/service_level=1", "each once"},
	{"mlx4_0:1/gid_index=99999999999999999999", "is none of"},
	{"mlx4_0:1/sl=1", "is none of"},
	{"mlx4_0:1/partition=5/@host", "\"\" is none of"},
	{"mlx4_0/partition=5", "expected"},
};

static void parses_and_formats(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct zaddr a, again;
		struct zerr err = {""};
		char text[300];
		if (zaddr_parse(&a, good[i].text, &err) != 0)
			fail_msg("%s: %s", good[i].text, err.text);
		assert_int_equal(a.kind, good[i].kind);
		assert_string_equal(a.host, good[i].host);
		assert_int_equal(a.port, good[i].port);
		assert_int_equal(zaddr_format(&a, text, sizeof(text)), (int)strlen(good[i].canonical));
		assert_string_equal(text, good[i].canonical);
		assert_int_equal(zaddr_parse(&again, text, &err), 0);
		assert_memory_equal(&a, &again, sizeof(a));
	}
}

static void refuses_with_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct zaddr a;
		struct zerr err = {""};
		if (zaddr_parse(&a, bad[i].text, &err) != -EINVAL)
			fail_msg("\"%s\" was not refused", bad[i].text);
		if (!strstr(err.text, bad[i].reason))
			fail_msg("\"%s\": reason \"%s\" lacks \"%s\"", bad[i].text, err.text, bad[i].reason);
		assert_int_equal(a.kind, ZADDR_NONE);
		assert_int_equal(zaddr_parse(&a, bad[i].text, NULL), -EINVAL);
	}
}

static void refuses_long_names(void **state)
{
	(void)state;
	static const char *const before[] = {"tcp:", "tcp:[:", "shm:/", "", "m:1@"};
	static const char *const after[] = {":1", "]:1", "", ":1", ":1"};
	static const size_t cap[] = {sizeof((struct zaddr){0}.host), sizeof((struct zaddr){0}.host),
		sizeof((struct zaddr){0}.host), 64, sizeof((struct zaddr){0}.via)};
	for (size_t i = 0; i < 5; i++)
		for (size_t len = 60; len < 600; len++) {
			char text[700], body[601];
			struct zaddr a;
			struct zerr err;
			memset(body, 'a', len);
			body[len] = 0;
			snprintf(text, sizeof(text), "%s%s%s", before[i], body, after[i]);
			size_t host = len + (i == 1 || i == 2); /* the colon or slash belongs to it */
			assert_int_equal(zaddr_parse(&a, text, &err), host < cap[i] ? 0 : -EINVAL);
		}
}

static void formats_into_small_buffers(void **state)
{
	(void)state;
	struct zaddr a;
	char text[8];
	assert_int_equal(zaddr_parse(&a, "tcp:10.1.0.1:5", NULL), 0);
	assert_int_equal(zaddr_format(&a, text, sizeof(text)), (int)strlen("tcp:10.1.0.1:5"));
	assert_string_equal(text, "tcp:10.");
	memset(&a, 0, sizeof(a));
	zaddr_format(&a, text, sizeof(text));
	assert_string_equal(text, "none");
}

/* Texts between commas; a path may have commas of its own. */
static void parses_lists(void **state)
{
	static const struct {
		const char *text;
		int n;
		const char *canonical;
	} lists[] = {
		{"shm", 1, "shm"},
		{"shm,shm", 2, "shm,shm"},
		{"tcp:a,tcp:[::1]:5,mlx4_0:1@zip:3", 3, "tcp:a:7474,tcp:[::1]:5,mlx4_0:1@zip:3"},
		{"shm:/a,b/c", 1, "shm:/a,b/c"},
		{"shm:/a,b/c,d,shm:/e,,f,mlx5_0:2", 3, "shm:/a,b/c,d,shm:/e,,f,mlx5_0:2"},
		{"shm:/a,shmoo,shm:@b,", 2, "shm:/a,shmoo,shm:@b,"},
		{"shm:/a,b:c", 1, "shm:/a,b:c"},
		{"mlx4_0:1,mlx4_1:1,tcp:b:1", 3, "mlx4_0:1,mlx4_1:1,tcp:b:1"},
	};
	static struct zhops addr[3], many[3];
	struct zerr err = {{0}};
	char text[200];
	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		assert_int_equal(zhops_parse_list(addr, 3, lists[i].text, &err), lists[i].n);
		assert_int_equal(zhops_format_list(addr, lists[i].n, text, sizeof(text)), strlen(lists[i].canonical));
		assert_string_equal(text, lists[i].canonical);
		assert_int_equal(zhops_parse_list(many, 3, text, &err), lists[i].n);
		for (int k = 0; k < lists[i].n; k++) {
			assert_int_equal(many[k].n, 0);
			assert_memory_equal(&many[k].first, &addr[k].first, sizeof(addr[k].first));
		}
	}
	assert_int_equal(zhops_format_list(addr, 3, text, 12), 25);
	assert_string_equal(text, "mlx4_0:1,ml");
}

static void refuses_lists(void **state)
{
	static const char *const wrong[][2] = {
		{"", "expected"},
		{",shm", "expected"},
		{"shm,", "expected"},
		{"tcp:a,", "host name"},
		{"tcp:a,tcp:", "host name"},
		{"tcp:a,mlx4_0:0", "no port of a device"},
		{"shm,shm,shm,shm", "more than 3"},
	};
	static struct zhops addr[3];
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct zerr err = {{0}};
		assert_int_equal(zhops_parse_list(addr, 3, wrong[i][0], &err), -EINVAL);
		assert_non_null(strstr(err.text, wrong[i][1]));
	}
}

static void parses_hops(void **state)
{
	static struct zhops h[3];
	char text[ZHOPS_TEXT_BYTES];
	struct zerr err;
	(void)state;
	assert_int_equal(zhops_parse(&h[0], "tcp:a", &err), 0);
	assert_int_equal(h[0].n, 0);
	assert_ptr_equal(zhops_last(&h[0]), &h[0].first);
	assert_int_equal(zhops_parse_list(h, 3, "tcp:a>lgm>wan>tcp:b:1>wan>das4>mlx4_0:2@c,shm:/x,y,shm>a>b>shm:@z,1",
				 &err),
		3);
	assert_int_equal(h[0].n, 2);
	assert_string_equal(h[0].hop[0].from, "lgm");
	assert_string_equal(h[0].hop[0].to, "wan");
	assert_int_equal(h[0].hop[0].addr.port, 1);
	assert_string_equal(h[0].hop[1].to, "das4");
	assert_string_equal(zhops_last(&h[0])->via, "c");
	assert_int_equal(h[1].n, 0);
	assert_string_equal(h[1].first.host, "/x,y");
	assert_string_equal(zhops_last(&h[2])->host, "@z,1");
	assert_int_equal(zhops_format(&h[0], text, sizeof(text)), 51);
	assert_string_equal(text, "tcp:a:7474>lgm>wan>tcp:b:1>wan>das4>mlx4_0:2@c:7474");
	assert_int_equal(zhops_format(&h[0], text, 20), 51);
	assert_string_equal(text, "tcp:a:7474>lgm>wan>");
}

static void refuses_hops(void **state)
{
	static const char *const wrong[][2] = {
		{"", "expected"},
		{">a>b>shm", "expected"},
		{"shm>", ">FROM>TO>ADDRESS"},
		{"shm>a", ">FROM>TO>ADDRESS"},
		{"shm>a>b", "no address"},
		{"shm>a>b>", "expected"},
		{"shm>a>>shm", ">FROM>TO>ADDRESS"},
		{"shm>a b>c>shm", ">FROM>TO>ADDRESS"},
		{"shm>a>b>tcp:", "host name"},
		{"shm>a>b>shm>c", ">FROM>TO>ADDRESS"},
		{"shm,", "expected"},
		{"shm,shm,shm,shm", "more than 3"},
		{"shm>a>b>shm>a>b>shm>a>b>shm>a>b>shm>a>b>shm>a>b>shm>a>b>shm>a>b>shm>a>b>shm", "more than 8 hops"},
	};
	static struct zhops h[3];
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct zerr err = {{0}};
		assert_int_equal(zhops_parse_list(h, 3, wrong[i][0], &err), -EINVAL);
		if (!strstr(err.text, wrong[i][1]))
			fail_msg("%s: %s", wrong[i][0], err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_and_formats),
		cmocka_unit_test(refuses_with_reason),
		cmocka_unit_test(refuses_long_names),
		cmocka_unit_test(formats_into_small_buffers),
		cmocka_unit_test(parses_lists),
		cmocka_unit_test(refuses_lists),
		cmocka_unit_test(parses_hops),
		cmocka_unit_test(refuses_hops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
