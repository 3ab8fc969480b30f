/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of pictures: shapes and text of SVG. Lengths are in pixels; y grows downwards. */
#ifndef ZIP_MAPPER_SVG_H
#define ZIP_MAPPER_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SVG_ELLIPSIS "\xe2\x80\xa6"

/* Writes a text with the characters of XML escaped, also for HTML outside of tags. */
void svg_escape(FILE *, const char *text);
/* The picture can be scaled: its coordinates go with it. */
void svg_begin(FILE *, double width, double height);
void svg_end(FILE *);
void svg_rectangle(FILE *, double x, double y, double w, double h, const char *fill, const char *stroke);
/* dashes: as "2 3", or NULL. */
void svg_line(FILE *, double x1, double y1, double x2, double y2, const char *stroke, double width, const char *dashes);
/* anchor: start, middle or end. The text may have any bytes: U+FFFD stands for those that XML does not take. */
void svg_text(FILE *, double x, double y, double size, const char *anchor, const char *text);
/* A text on lines, which are pale below it. left: the text stands left of x. */
void svg_label(FILE *, double x, double y, double size, bool left, const char *text);
/* The width of a text, roughly. */
double svg_text_width(const char *text, double size);
/* Shortens a text to so many letters: an ellipsis takes the place of its middle. Returns buf. */
const char *svg_shorten(char *buf, size_t cap, const char *text, unsigned letters);

#endif
