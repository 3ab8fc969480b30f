/* SPDX-License-Identifier: BSD-3-Clause */
/* Files for the output of each rank (-outfile-pattern, -errfile-pattern). The mpiexec of a part writes them, and counts
 * its own ranks from 0: its pattern names links in the private directory, which lead to the files of the world's ranks.
 */
#ifndef ZIP_LAUNCH_OUTFILES_H
#define ZIP_LAUNCH_OUTFILES_H

#include "launch/base/scratch.h"
#include "launch/plan/plan.h"

#define ZOUTFILES_PATTERN_BYTES 192

/*
 * Makes an empty file for each rank of the part by the user's pattern, in which %r is the rank and %% a per cent sign,
 * and a link to each. option: "outfile" or "errfile". Fills mine with the pattern for the part's mpiexec. 0, or a
 * negative errno with text.
 */
int zoutfiles_make(const struct zscratch *, const struct zplan_part *, const char *option, const char *pattern,
	char mine[ZOUTFILES_PATTERN_BYTES], struct zerr *);

#endif
