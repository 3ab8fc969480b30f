/* SPDX-License-Identifier: BSD-3-Clause */
/* What went over the bridge of a running zipperd, for the jobs of one user. */
#ifndef ZIPSTAT_TRAFFIC_H
#define ZIPSTAT_TRAFFIC_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"

struct traffic_options {
	const char *address; /* where zipperd listens */
	const char *user;    /* NULL: ours */
	const char *job;     /* NULL: all */
	bool csv;
};

/* 0, or a negative errno with text. */
int traffic_print(const struct traffic_options *, FILE *, struct zerr *);

#endif
