/* SPDX-License-Identifier: BSD-3-Clause */
/* The private temporary directory of one zmpirun: mode 0700, short enough for the path of a Unix socket. */
#ifndef ZIP_LAUNCH_SCRATCH_H
#define ZIP_LAUNCH_SCRATCH_H

#include <stddef.h>

#include "common/base/err.h"

struct zscratch {
	char dir[64]; /* "": not made */
};

int zscratch_create(struct zscratch *, struct zerr *);
/* The path of a file in it. Returns buf. */
const char *zscratch_path(const struct zscratch *, const char *name, char *buf, size_t cap);
/* Writes a file of mode 0600. 0 or a negative errno with text. */
int zscratch_write(const struct zscratch *, const char *name, const char *text, size_t len, struct zerr *);
/* Removes it and what is in it. A handler of signals may call it. */
void zscratch_remove(struct zscratch *);

#endif
