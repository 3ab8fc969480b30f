/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a program that tries whether jobs can run: "ok", "warn" (a job runs, but something is not as it should
 * be) or "bad" (no job would run), and then what, and what to do. One thread. */
#ifndef ZIP_COMMON_DOCTOR_REPORT_H
#define ZIP_COMMON_DOCTOR_REPORT_H

#include <stdio.h>

enum zreport_level { ZREPORT_OK, ZREPORT_WARN, ZREPORT_BAD, ZREPORT_LEVELS };

struct zreport {
	FILE *out;
	int count[ZREPORT_LEVELS];
};

/* Prints one line at once. advice: what to do; NULL: nothing is to be done. */
void zreport_add(struct zreport *, enum zreport_level, const char *advice, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Prints the last line. well: its words where nothing was bad, without a full stop. Returns the exit status: 1 where
 * something was bad, else 0. */
int zreport_end(struct zreport *, const char *well);

#endif
