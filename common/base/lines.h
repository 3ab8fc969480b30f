/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads text files line by line, and names the line in each error. Any thread. */
#ifndef ZIP_COMMON_BASE_LINES_H
#define ZIP_COMMON_BASE_LINES_H

#include <stdio.h>

#include "common/base/err.h"

/* Takes one line, which it may change. The line has its newline, if the file has one there, and no byte order mark.
 * number counts from 1. Returns 0 or a negative errno. */
typedef int zlines_fn(void *arg, char *line, int number, struct zerr *);

/* The text behind its UTF-8 byte order mark, if it has one. Some editors begin files with one. */
char *zlines_skip_mark(char *text);

/* Reads all lines of the stream up to the first error. Returns 0; the error of read, or -EINVAL (a zero byte), with
 * "path:number: reason"; or the stream's error with "path: reason". */
int zlines_read(FILE *, const char *path, zlines_fn *read, void *arg, struct zerr *);
/* As zlines_read, of a file that is opened and closed here. */
int zlines_read_file(const char *path, zlines_fn *read, void *arg, struct zerr *);

#endif
