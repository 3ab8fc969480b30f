/* SPDX-License-Identifier: BSD-3-Clause */
/* --progress: says once a second what has crossed between the clusters. Asks each zipper of the job over the connection
 * that is there, and waits for nobody. On a terminal one line is written over and over, else a line each time. */
#ifndef ZIP_LAUNCH_PROGRESS_H
#define ZIP_LAUNCH_PROGRESS_H

#include <stdint.h>

#include "launch/run/run.h"

void zprogress_init(struct zrun *);
/* Milliseconds until zprogress_tick has something to do, or -1. */
int zprogress_timeout(const struct zrun *, int64_t now_ms);
void zprogress_tick(struct zrun *, int64_t now_ms);
/* Clears the line, and takes answers that are still on their way: nobody else is to read them. */
void zprogress_end(struct zrun *);

#endif
