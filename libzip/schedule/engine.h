/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine that runs schedules (sched.h). Under the shim's lock, which is given up only inside callbacks of the
 * application. */
#ifndef ZIP_LIBZIP_ENGINE_H
#define ZIP_LIBZIP_ENGINE_H

#include "libzip/schedule/sched.h"

/* Starts the schedule. On return it may be complete already, and gone if its zsched_on_done function has made its
 * request an orphan. */
void zengine_start(struct zsched *);
/* Starts the schedule, waits for it, raises its error through the communicator's handler, and destroys it. Returns what
 * the MPI function returns. */
int zengine_run(struct zsched *);
/* From here on this thread is inside a callback that a step of a schedule on that communicator has called, as an
 * attribute's copy function; NULL: it is no more. There zengine_run would wait for the end of that schedule, and is an
 * error. Returns what was set before. */
const struct zcomm *zengine_within(const struct zcomm *);

/* Takes all schedules as far as they go. Every turn of progress calls this from the first zengine_start on. Returns
 * whether anything happened. */
bool zengine_progress(void);

#endif
