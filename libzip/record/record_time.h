/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that this process spends in MPI, by kind of call and phase of the program, and the time of the whole run.
 * Threads may be in calls at the same time: their times add up. begin and end are called under the shim's lock, phase
 * under the recorder's lock; call_begin and call_end under none. An error handler must not leave a call by longjmp: the
 * further calls of that thread would count as part of that call, and not be recorded.
 */
#ifndef ZIP_LIBZIP_RECORD_TIME_H
#define ZIP_LIBZIP_RECORD_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "common/graph/graph.h"

/* The number of different phases; times of further ones are not recorded. */
#define ZRECORD_PHASES_MAX 1024

/* The run begins in this phase. Also begins to measure how long calls wait for the bridge. */
void zrecord_time_begin(uint32_t phase);
/* The program is in this phase from now on; 0: nothing is recorded. */
void zrecord_time_phase(uint32_t phase);
/* The run ends. */
void zrecord_time_end(void);

/* Around a call of the program. Only the outermost call of a thread counts: a callback's calls belong to it. begin
 * returns what end needs. */
int64_t zrecord_time_call_begin(void);
void zrecord_time_call_end(enum zgraph_span, int64_t began);

/* The times, ascending by (phase, span). *out is malloc'ed. After zrecord_time_end. Returns 0 or -ENOMEM. */
int zrecord_time_list(struct zgraph_time **out, size_t *n);
/* Forgets all. */
void zrecord_time_free(void);

#endif
