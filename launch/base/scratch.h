/* SPDX-License-Identifier: BSD-3-Clause */
/* The private temporary directory of one zmpirun. Its mode is 0700, and its path short enough for a Unix socket inside.
 */
#ifndef ZIP_LAUNCH_SCRATCH_H
#define ZIP_LAUNCH_SCRATCH_H

#include <stddef.h>

#include "common/base/err.h"

struct zscratch {
	char dir[64]; /* "": not made */
};

int zscratch_create(struct zscratch *, struct zerr *);
/* Writes the path of a file in the directory into buf. Returns buf. */
const char *zscratch_path(const struct zscratch *, const char *name, char *buf, size_t cap);
/* Writes a file of mode 0600 in the directory. 0 or a negative errno with text. */
int zscratch_write(const struct zscratch *, const char *name, const char *text, size_t len, struct zerr *);
/* Removes the directory and all in it. Signal handlers may call it. */
void zscratch_remove(struct zscratch *);

#endif
