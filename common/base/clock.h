/* SPDX-License-Identifier: BSD-3-Clause */
/* The monotonic clock, for deadlines and for measuring durations. Any thread. */
#ifndef ZIP_COMMON_BASE_CLOCK_H
#define ZIP_COMMON_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t zclock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline int64_t zclock_ms(void)
{
	return zclock_ns() / 1000000;
}

#endif
