/* SPDX-License-Identifier: BSD-3-Clause */
/* The file of -configfile (MPI-4.0, section 11.5): a line for each program with its options, "#" lines are comments, a
 * backslash at the end of a line goes on with the next one. Words may be quoted as in a shell. Start-up only. */
#ifndef ZIP_LAUNCH_CONFIGFILE_H
#define ZIP_LAUNCH_CONFIGFILE_H

#include "common/base/err.h"
#include "launch/base/argv.h"

/* Adds the words of the file, with a word ":" between two lines. 0, or a negative errno with the file and line. */
int zconfigfile_read(struct zargv *, const char *path, struct zerr *);

#endif
