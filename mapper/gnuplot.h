/* SPDX-License-Identifier: BSD-3-Clause */
/* Running gnuplot on a program that we wrote. */
#ifndef ZIP_MAPPER_GNUPLOT_H
#define ZIP_MAPPER_GNUPLOT_H

#include <stdio.h>

#include "err.h"

/* Text in single quotes, in which a quote is doubled. */
void gnuplot_quoted(FILE *, const char *text);
/* 0, -ENOENT if there is no gnuplot, -EIO if it fails. */
int gnuplot_run(const char *program, struct zerr *);

#endif
