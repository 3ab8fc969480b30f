/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipstat check": would a job run over these zippers, and is this host fit for them? */
#ifndef ZIPSTAT_CHECK_H
#define ZIPSTAT_CHECK_H

#include <stdio.h>

#include "common/base/err.h"

struct check_options {
	const char *const *address; /* [naddresses] where zipperds listen */
	int naddresses;
	const char *user; /* NULL: the user of this process */
};

/* Prints a line for each thing that was tried. Returns 0: a job would run; 1: it would not. */
int check_run(const struct check_options *, FILE *);

#endif
