/* SPDX-License-Identifier: BSD-3-Clause */
/* The conformance list: every test runs over every transport. It checks the contract in transport.h. */
#include "test/unit/common/link_fixture.h"

#include <stdio.h>
#include <string.h>

static const struct link_test *const lists[] = {
	transport_connect_tests,
	transport_message_tests,
	transport_end_tests,
	transport_rma_tests,
	transport_stream_tests,
};
enum { LISTS = sizeof(lists) / sizeof(lists[0]), TESTS_MAX = 100 };

static size_t add_tests(struct CMUnitTest *tests, const struct link_kind *kind, const struct link_test *list)
{
	size_t count = 0;
	for (; list[count].name; count++) {
		char *name = malloc(80);
		if (!name)
			abort();
		snprintf(name, 80, "%s_%s", kind->name, list[count].name);
		tests[count] =
			(struct CMUnitTest){name, list[count].run, fixture_setup, fixture_teardown, (void *)kind};
	}
	return count;
}

/* ZIP_TEST_LINKS is a list of kinds with a space around each; all if it is not set. */
static bool is_wanted(const struct link_kind *kind)
{
	char word[40];
	const char *list = getenv("ZIP_TEST_LINKS");
	snprintf(word, sizeof(word), " %s ", kind->name);
	return !list || strstr(list, word);
}

int transport_main(int argc, char **argv)
{
	size_t count = 0;
	struct CMUnitTest *tests = calloc(link_kind_count * TESTS_MAX, sizeof(*tests));
	if (!tests)
		return 1;
	for (size_t i = 0; i < link_kind_count; i++) {
		const struct link_kind *kind = &link_kinds[i];
		if (!is_wanted(kind))
			continue;
		if (!link_kind_works(kind)) {
			printf("# no %s on this machine\n", kind->name);
			continue;
		}
		for (size_t j = 0; j < LISTS; j++)
			if ((kind->stream || lists[j] != transport_stream_tests) &&
				(link_kind_has_rma(kind) || lists[j] != transport_rma_tests))
				count += add_tests(tests + count, kind, lists[j]);
	}
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	int rc = _cmocka_run_group_tests("transport", tests, count, NULL, NULL);
	for (size_t i = 0; i < count; i++)
		free((char *)tests[i].name);
	free(tests);
	return rc;
}
