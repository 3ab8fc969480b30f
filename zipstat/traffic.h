/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipstat ADDRESS": the traffic over a running zipperd, of the jobs of one user. */
#ifndef ZIPSTAT_TRAFFIC_H
#define ZIPSTAT_TRAFFIC_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"

struct traffic_options {
	const char *address; /* where zipperd listens */
	const char *user;    /* NULL: the user of this process */
	const char *job;     /* NULL: all */
	bool csv;
};

/* Prints the table. 0, or a negative errno with text. */
int traffic_print(const struct traffic_options *, FILE *, struct zerr *);

#endif
