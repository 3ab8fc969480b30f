/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipstat --endpoints": the resources that the endpoint categories take. */
#ifndef ZIPSTAT_ENDPOINTS_H
#define ZIPSTAT_ENDPOINTS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"

struct endpoints_options {
	unsigned threads, paths; /* paths: queue pairs of each thread */
	int category;		 /* enum zep_category, or -1: all */
	const char *device;	 /* of this host; NULL: predicted */
	bool csv;
};

/* Prints the table. 0, or a negative errno with text. */
int endpoints_print(const struct endpoints_options *, FILE *, struct zerr *);

#endif
