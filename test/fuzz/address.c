/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses, ports of a zipper node, and ways by hops, all read from the same text. One that is accepted is written so
 * that it is read as the same again. */
#include <stdlib.h>
#include <string.h>

#include "common/hosts/hops.h"
#include "common/hosts/ports.h"
#include "test/fuzz/target.h"

#define WAYS_MAX 4

static char text[WAYS_MAX * ZHOPS_TEXT_BYTES], text2[WAYS_MAX * ZHOPS_TEXT_BYTES];

static void address(const char *in)
{
	struct zaddr a, b, tcp;
	struct zerr err = {{0}};
	if (zaddr_parse(&a, in, &err) != 0) {
		CHECK(err.text[0]);
		return;
	}
	CHECK(zaddr_begins(in));
	CHECK(zaddr_traits(&a)->name);
	zaddr_is_fixed(&a, in);
	zaddr_lacks_host(&a);
	zaddr_tcp_host(&a);
	zaddr_tcp_port(&a);
	zaddr_tcp(&a, &tcp);
	CHECK((size_t)zaddr_format(&a, text, sizeof(text)) == strlen(text));
	CHECK(zaddr_parse(&b, text, &err) == 0);
	CHECK(zaddr_same(&a, &b) && zaddr_same_adapter(&a, &b));
	CHECK(zaddr_format(&b, text2, sizeof(text2)) > 0 && strcmp(text, text2) == 0);
	zaddr_format(&a, text2, 8); /* cut */
	CHECK(strlen(text2) < 8);
	zaddr_listen_anywhere(&b);
	zaddr_strip_place(&b);
}

static void ports(const char *in)
{
	static struct zports p, again;
	struct zerr err = {{0}};
	if (zports_parse(&p, in, &err) == 0) {
		if (zports_format(&p, text, sizeof(text)) == 0) {
			CHECK(zports_parse(&again, text, &err) == 0 && again.n == p.n);
			CHECK(zports_format(&again, text2, sizeof(text2)) == 0 && strcmp(text, text2) == 0);
		}
	} else {
		CHECK(err.text[0]);
	}
	zports_find(&p, in, 3, &err);
}

static void ways(const char *in)
{
	static struct zhops list[WAYS_MAX], again[WAYS_MAX];
	struct zerr err = {{0}};
	zhops_parse(list, in, &err);
	int n = zhops_parse_list(list, WAYS_MAX, in, &err);
	if (n < 0) {
		CHECK(err.text[0]);
		return;
	}
	CHECK(n <= WAYS_MAX);
	for (int i = 0; i < n; i++)
		CHECK(list[i].n >= 0 && list[i].n <= ZCTL_HOPS_MAX && zaddr_traits(zhops_last(&list[i]))->name);
	CHECK((size_t)zhops_format_list(list, n, text, sizeof(text)) == strlen(text));
	CHECK(zhops_parse_list(again, WAYS_MAX, text, &err) == n);
	zhops_format_list(again, n, text2, sizeof(text2));
	CHECK(strcmp(text, text2) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *in = target_text(data, size);
	address(in);
	ports(in);
	ways(in);
	free(in);
	return 0;
}
