/* SPDX-License-Identifier: BSD-3-Clause */
/* Zippers that were lost and come back: their zipperd, started again, knows nothing of the job, which is registered
 * there anew. The ranks join again by themselves. */
#ifndef ZIP_LAUNCH_AGAIN_H
#define ZIP_LAUNCH_AGAIN_H

#include "launch/start/job.h"

/* A step for all zippers that are down: tries to reach them, now and then, or looks whether all ranks have come back.
 * Then the zipper is in use again. Blocks for a moment where a zipper's host does not answer. True: a zipper has come
 * back, or has said that the job is over. */
bool zagain_turn(struct zjob *, int64_t now);

#endif
