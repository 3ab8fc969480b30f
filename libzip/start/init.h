/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining the job, and leaving it: the work between the native library's beginning and its end (lifetime.c says when).
 * Under the shim's lock, as far as there is one yet. */
#ifndef ZIP_LIBZIP_INIT_H
#define ZIP_LIBZIP_INIT_H

#include <stdbool.h>

#include "libzip/start/env.h"
#include "common/base/err.h"

/* Called when native MPI is initialised; provided: its level of threads. job: the result of zenv_read, with env or
 * err. Collective over the job, so it may wait for others. An error ends the process, with a line that names the
 * function. A process that MPI_Comm_spawn has started stays outside the job. */
void zinit_begin(const char *function, int job, const struct zenv *env, const struct zerr *err, int provided);
/* Will the process record calls? */
bool zinit_records(int job, const struct zenv *env);
/* Called before native MPI ends. Collective over the job. */
void zinit_end(void);
/* Leaves the job when all zippers say that it is over (libzip/progress/ended.h): no other rank is waited for. */
void zinit_abandon(void);

#endif
