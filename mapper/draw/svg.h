/* SPDX-License-Identifier: BSD-3-Clause */
/* What pictures are made of: shapes and text of SVG. Lengths are in pixels; y grows downwards. */
#ifndef ZIP_MAPPER_SVG_H
#define ZIP_MAPPER_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SVG_ELLIPSIS "\xe2\x80\xa6"

void svg_begin(FILE *, double width, double height);
void svg_end(FILE *);
void svg_rectangle(FILE *, double x, double y, double w, double h, const char *fill, const char *stroke);
/* dashes: as "2 3", or NULL. */
void svg_line(FILE *, double x1, double y1, double x2, double y2, const char *stroke, double width, const char *dashes);
/* anchor: start, middle or end. Any bytes may be in text: what XML does not take becomes U+FFFD. */
void svg_text(FILE *, double x, double y, double size, const char *anchor, const char *text);
/* A text to be read on lines: they are pale below it. left: of x. */
void svg_label(FILE *, double x, double y, double size, bool left, const char *text);
/* How wide a text is, roughly. */
double svg_text_width(const char *text, double size);
/* At most so many letters of a text: one that has more loses its middle, where an ellipsis then stands. Returns buf. */
const char *svg_shorten(char *buf, size_t cap, const char *text, unsigned letters);

#endif
