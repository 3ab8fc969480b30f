/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of zipcast for all transports; the state of a case is the transport's name. cast.c, bridge.c and verbs.c run
 * them. */
#ifndef ZIP_TEST_CAST_CASES_H
#define ZIP_TEST_CAST_CASES_H

#include "test/unit/zipcast/fixture.h"

#define CAST_CASE(test, transport)                                                                                     \
	{                                                                                                              \
#test "_" transport, test, NULL, NULL, (void *)(uintptr_t)(transport)                                  \
	}

void two_members(void **state);
void seven_members(void **state);
void eight_sleeping_members(void **state);
void thirteen_members(void **state);
void three_polling_members(void **state);
void overlapping_groups(void **state);
void failure_of_a_member(void **state);
void member_that_comes_late(void **state);
void no_memory_for_a_message(void **state);
void leaving_an_idle_group(void **state);
void going_from_an_idle_group(void **state);
void a_group_that_one_cannot_make(void **state);
void different_groups_of_one_number(void **state);
void two_roots(void **state);
void a_member_too_many(void **state);
void a_member_that_never_comes(void **state);
void strangers(void **state);
void member_that_comes_too_late(void **state);
void destroying_in_the_middle(void **state);

#endif
