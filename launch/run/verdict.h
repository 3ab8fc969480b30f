/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict: the line in which zmpirun says why a job ended early, and the exit status that goes with it. It is about
 * the first failure. Further complaints about that failure are hushed. */
#ifndef ZIP_LAUNCH_VERDICT_H
#define ZIP_LAUNCH_VERDICT_H

#include "launch/run/run.h"

/* Sets the verdict, if there is none yet. Ends the job with that exit status, and leaves it grace_ms to end by itself.
 */
void zverdict_set(struct zrun *, int status, int grace_ms, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Prints the verdict, once. */
void zverdict_show(struct zrun *);
/* Adds what mpiexec has told by now of a rank's death, and prints the verdict. */
void zverdict_show_complete(struct zrun *);
/* The part of the rank that the verdict is about. NULL: it is about none. */
const struct zpart *zverdict_subject(const struct zrun *);
/* Something else was seen that may be the reason for the zippers' words. Forgets a verdict of theirs that was not
 * printed yet. */
void zverdict_doubt(struct zrun *);
/* No zipperd has told of a killed rank, but mpiexec has, in a banner that is taken out: prints that as the verdict. */
void zverdict_show_killed(struct zrun *);

#endif
