/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases of groups that end or fail, for all transports; the state of a case is the transport's name. end.c and verbs.c
 * run them. */
#ifndef ZIP_TEST_CAST_ENDS_H
#define ZIP_TEST_CAST_ENDS_H

#include "test/unit/zipcast/fixture.h"

void end_of_an_idle_group(void **state);
void end_behind_what_was_accepted(void **state);
void end_by_a_call(void **state);
void end_that_is_destroyed_in_its_callback(void **state);
void end_before_members_come(void **state);
void end_of_a_group_that_a_member_has_left(void **state);
void end_that_lacks_a_member(void **state);
void end_of_members_that_others_do_not_need(void **state);
void root_that_closes_with_messages(void **state);
void root_that_is_lost(void **state);
void member_that_is_lost(void **state);

#endif
