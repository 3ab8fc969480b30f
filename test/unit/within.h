/* SPDX-License-Identifier: BSD-3-Clause
 * An assertion of cmocka's tests about a range. cmocka 1 calls it assert_in_range, and cmocka 2 warns of that name. */
#ifndef UNIT_WITHIN_H
#define UNIT_WITHIN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* least <= value <= most, as unsigned numbers */
#define assert_within(value, least, most)                                                                              \
	do {                                                                                                           \
		uintmax_t v_ = (uintmax_t)(value), least_ = (uintmax_t)(least), most_ = (uintmax_t)(most);             \
		if (v_ < least_ || v_ > most_)                                                                         \
			fail_msg("%s is %ju, which is not within %ju and %ju", #value, v_, least_, most_);             \
	} while (0)

#endif
