/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a job ends early: the first thing that failed, told in one line. What the rest of the world has to say about it
 * is hushed. */
#ifndef ZIP_LAUNCH_VERDICT_H
#define ZIP_LAUNCH_VERDICT_H

#include "launch/run/run.h"

/* This is why, if nothing else is yet. Ends the job with that exit status, and leaves it so long to end by itself. */
void zverdict_set(struct zrun *, int status, int grace_ms, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Tells it, once. */
void zverdict_show(struct zrun *);
/* The same, with what mpiexec has told meanwhile of how a rank died. */
void zverdict_show_complete(struct zrun *);
/* Something else is seen that may be the reason for what zippers have told: if that was not told of it is forgotten. */
void zverdict_doubt(struct zrun *);
/* No zipperd has told of a rank that was killed, but mpiexec has: in a banner, which we take out. */
void zverdict_show_killed(struct zrun *);

#endif
