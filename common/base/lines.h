/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads text files line by line, and says of each error where it is. Any thread. */
#ifndef ZIP_COMMON_BASE_LINES_H
#define ZIP_COMMON_BASE_LINES_H

#include <stdio.h>

#include "common/base/err.h"

/* Reads one line (with its newline, if it has one; without a byte order mark), which it may change; number: from 1. 0
 * or a negative errno. */
typedef int zlines_fn(void *arg, char *line, int number, struct zerr *);

/* The text behind a byte order mark in UTF-8, with which some editors begin files, if it begins with one. */
char *zlines_skip_mark(char *text);

/* All lines of the stream up to the first error. 0; what read says, or -EINVAL (zero byte), with
 * "path:number: reason"; or the stream's error with "path: reason". */
int zlines_read(FILE *, const char *path, zlines_fn *read, void *arg, struct zerr *);
/* The same of a file, which is opened and closed. */
int zlines_read_file(const char *path, zlines_fn *read, void *arg, struct zerr *);

#endif
