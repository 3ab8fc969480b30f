/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that begin together and are timed. */
#ifndef ZIPBENCH_ENDPOINTS_CREW_H
#define ZIPBENCH_ENDPOINTS_CREW_H

#include <stdbool.h>

#include "common/base/err.h"

/* Calls work(ctx, 0..n-1), each in a thread of its own (bound to a core if there are enough), and waits for all.
 * seconds: from the common beginning to the end of the last thread. 0; a negative errno with text: a thread could not
 * be created; or a return value of work. */
int crew_run(unsigned n, int (*work)(void *ctx, unsigned t), void *ctx, double *seconds, struct zerr *err);
/* Are there fewer cores than threads, so that waiting has to yield? */
bool crew_is_crowded(unsigned threads);

#endif
