/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs gnuplot on a program of ours. */
#ifndef ZIP_MAPPER_GNUPLOT_H
#define ZIP_MAPPER_GNUPLOT_H

#include <stdio.h>

#include "common/base/err.h"

/* Writes text in single quotes; a quote inside is doubled. */
void gnuplot_quoted(FILE *, const char *text);

/* A picture: BASE.gnuplot makes BASE.svg and BASE.png of it. */
struct gnuplot_picture {
	const char *base;
	unsigned width, height;		       /* pixels */
	unsigned font;			       /* points in SVG; in PNG three quarters of it */
	void (*data)(FILE *, const void *arg); /* written once; NULL: none */
	void (*plot)(FILE *, const void *arg); /* written for each of the two formats */
	const void *arg;
};
/* Can BASE.gnuplot be written? For callers that have hours of work before they draw. 0 or a negative errno. */
int gnuplot_try(const char *base, struct zerr *);
/* Draws the picture. 0, -ENOMEM, -ENOENT if there is no gnuplot, -EIO if it fails or a file cannot be written; that
 * file is then removed. */
int gnuplot_draw(const struct gnuplot_picture *, struct zerr *);

#endif
