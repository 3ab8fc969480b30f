/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits the rate of log lines that strangers can cause. One thread. */
#ifndef ZIPPERD_LIMIT_H
#define ZIPPERD_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#define LIMIT_LINES 10 /* per period */
#define LIMIT_PERIOD_MS 10000

struct limit {
	int64_t since_ms;
	uint32_t lines;
	uint32_t dropped;
};

/* May a line be written now? *dropped: the number of lines that were not written before it (0 mostly). */
static inline bool limit_pass(struct limit *l, int64_t now_ms, uint32_t *dropped)
{
	*dropped = 0;
	if (l->lines == 0 || now_ms - l->since_ms >= LIMIT_PERIOD_MS) {
		*dropped = l->dropped;
		*l = (struct limit){.since_ms = now_ms};
	}
	if (l->lines < LIMIT_LINES) {
		l->lines++;
		return true;
	}
	l->dropped++;
	return false;
}

#endif
