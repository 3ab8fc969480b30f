/* SPDX-License-Identifier: BSD-3-Clause */
/* A parallel loop. Items are handed out one by one. Results must not depend on which worker takes which item. */
#ifndef ZIP_MAPPER_PAR_H
#define ZIP_MAPPER_PAR_H

#include <stddef.h>

#define PAR_THREADS_MAX 256

typedef void par_fn(void *arg, size_t item, unsigned worker);

/* Calls fn(arg, item, worker) once for each item in 0..items-1, with worker < threads. Returns when all calls are done.
 * The caller is worker 0. If a thread cannot be started, the other threads do its work. */
void par_run(unsigned threads, size_t items, par_fn *fn, void *arg);
/* The number of processors that this process may run on, 1..PAR_THREADS_MAX. */
unsigned par_threads(void);

#endif
