/* SPDX-License-Identifier: BSD-3-Clause */
/* A file that is written: it takes its name when all of it is there, so that an error loses nothing of what had the
 * name before. Its permissions stay, and so do symbolic links to it. Devices and pipes are written as they are, and
 * stay; so is standard output, under whatever name. */
#ifndef ZIP_MAPPER_OUTFILE_H
#define ZIP_MAPPER_OUTFILE_H

#include <stdio.h>

#include "common/base/err.h"

struct outfile {
	FILE *f;
	const char *path; /* the caller's */
	char *target;	  /* the file that path leads to */
	char *temporary;  /* beside target; NULL: f is path itself */
};

/* 0 or a negative errno; then there is nothing to close. */
int outfile_open(struct outfile *, const char *path, struct zerr *);
/* rc: of what has been written; if it is not 0, the file is dropped and rc returned. Else 0 or a negative errno. */
int outfile_close(struct outfile *, int rc, struct zerr *);

#endif
