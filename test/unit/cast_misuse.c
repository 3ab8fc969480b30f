/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs get wrong, and settings at their limits: each has an answer at once, and disturbs no other group. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cast_cases.h"

static const uint32_t two[] = {0, 1};

/* Who wants to wait for ever says so by the largest number. */
static void the_longest_timeout(void **state)
{
	static const uint32_t longest[] = {UINT32_MAX, (uint32_t)INT32_MAX + 1};
	const struct zipcast_group_config config = {.number = 1, .nmembers = 2, .members = two};
	static struct cast_member m[2];
	char why[ZIPCAST_WHY_BYTES] = "";
	for (size_t k = 0; k < 2; k++) {
		struct cast c;
		cast_timeout_ms = longest[k];
		cast_open(&c, *state, 2, ZIPCAST_HYBRID);
		cast_timeout_ms = 60000;
		for (uint32_t i = 0; i < 2; i++) {
			m[i] = (struct cast_member){.cast = &c, .node = i, .number = 1, .root = i == 0, .salt = 1};
			if (cast_create(&m[i], &config, why) != 0)
				fail_msg("node %u: %s", i, why);
			usleep(400000); /* twice the time between looks at the clock */
		}
		cast_send(&m[0], 1, 100000);
		cast_wait_complete(m, 2, 1);
		cast_destroy(m, 2);
		cast_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAST_CASE(the_longest_timeout, "tcp"),
		CAST_CASE(the_longest_timeout, "shm"),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
