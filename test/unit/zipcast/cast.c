/* SPDX-License-Identifier: BSD-3-Clause */
/* zipcast over tcp and shm. */
#include "test/unit/zipcast/cases.h"

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAST_CASE(two_members, "tcp"),
		CAST_CASE(seven_members, "tcp"),
		CAST_CASE(eight_sleeping_members, "shm"),
		CAST_CASE(thirteen_members, "shm"),
		CAST_CASE(three_polling_members, "shm"),
		CAST_CASE(overlapping_groups, "tcp"),
		CAST_CASE(failure_of_a_member, "tcp"),
		CAST_CASE(failure_of_a_member, "shm"),
		CAST_CASE(member_that_comes_late, "tcp"),
		CAST_CASE(member_that_comes_late, "shm"),
		CAST_CASE(member_that_comes_too_late, "tcp"),
		CAST_CASE(no_memory_for_a_message, "shm"),
		CAST_CASE(leaving_an_idle_group, "tcp"),
		CAST_CASE(going_from_an_idle_group, "shm"),
		CAST_CASE(destroying_in_the_middle, "tcp"),
		CAST_CASE(a_group_that_one_cannot_make, "shm"),
		CAST_CASE(different_groups_of_one_number, "shm"),
		CAST_CASE(two_roots, "tcp"),
		CAST_CASE(two_roots, "shm"),
		CAST_CASE(a_member_too_many, "tcp"),
		CAST_CASE(a_member_that_never_comes, "shm"),
		CAST_CASE(strangers, "tcp"),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
