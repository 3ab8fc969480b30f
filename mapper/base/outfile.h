/* SPDX-License-Identifier: BSD-3-Clause */
/* An output file that takes its name when all of it is written. An error therefore loses nothing of the file that had
 * the name before. Permissions and symbolic links stay. Devices, pipes and standard output, under whatever name, are
 * written as they are, and stay. */
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

/* 0 or a negative errno. On an error there is nothing to close. */
int outfile_open(struct outfile *, const char *path, struct zerr *);
/* rc: the result of writing. If it is not 0, the file is dropped and rc returned. Otherwise 0 or a negative errno. */
int outfile_close(struct outfile *, int rc, struct zerr *);

#endif
