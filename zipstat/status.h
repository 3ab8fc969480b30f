/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipstat ADDRESS...": what zippers do and for whom, once or again and again. */
#ifndef ZIPSTAT_STATUS_H
#define ZIPSTAT_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/base/err.h"

struct status_options {
	const char *const *address; /* [naddresses] where zipperds listen */
	int naddresses;
	const char *user; /* NULL: the user of this process */
	const char *job;  /* NULL: all */
	bool csv, json;
	unsigned interval_s; /* 0: once; else again after so many seconds, until a signal */
};

/* 0, or a negative errno with text. A zipperd that does not answer does not keep the others out. */
int status_print(const struct status_options *, FILE *, struct zerr *);

#endif
