/* SPDX-License-Identifier: BSD-3-Clause */
/* Running gnuplot on a program that we wrote. */
#ifndef ZIP_MAPPER_GNUPLOT_H
#define ZIP_MAPPER_GNUPLOT_H

#include <stdio.h>

#include "common/base/err.h"

/* Text in single quotes, in which a quote is doubled. */
void gnuplot_quoted(FILE *, const char *text);

/* What BASE.gnuplot makes BASE.svg and BASE.png of. */
struct gnuplot_picture {
	const char *base;
	unsigned width, height;		       /* pixels */
	unsigned font;			       /* points in SVG; PNG has three quarters of it */
	void (*data)(FILE *, const void *arg); /* written once; NULL: none */
	void (*plot)(FILE *, const void *arg); /* written for each of the two */
	const void *arg;
};
/* Can BASE.gnuplot be written? For those who have hours of work before they draw. 0, or a negative errno. */
int gnuplot_try(const char *base, struct zerr *);
/* 0, -ENOMEM, -ENOENT if there is no gnuplot, -EIO if it fails or a file cannot be written, which then is removed. */
int gnuplot_draw(const struct gnuplot_picture *, struct zerr *);

#endif
