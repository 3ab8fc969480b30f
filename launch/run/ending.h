/* SPDX-License-Identifier: BSD-3-Clause */
/* How a job ends. In order: every part's mpiexec ends by itself after all ranks have left. Otherwise something fails
 * first: a rank, an mpiexec, the last zipperd; or a signal comes. This is the verdict (verdict.h), and everything else
 * is ended: the ranks get a moment to end by zipperd's word, then SIGTERM, then SIGKILL. */
#ifndef ZIP_LAUNCH_ENDING_H
#define ZIP_LAUNCH_ENDING_H

#include "launch/run/run.h"

/* Take note of an event. Each event may become the verdict, if there is none yet. */
void zending_note_part(struct zrun *, struct zpart *);		    /* the part's mpiexec has ended */
void zending_note_daemon(struct zrun *, int rail, int wait_status); /* a zipperd of ours has ended */
void zending_note_job(struct zrun *);				    /* looks at job->dead and job->lost */
void zending_note_signal(struct zrun *, int signal);		    /* a signal asks zmpirun to end */

/* Milliseconds until zending_tick has something to do, or -1. */
int zending_timeout(const struct zrun *, int64_t now_ms);
void zending_tick(struct zrun *, int64_t now_ms);
/* To be called when all parts are over: shows the verdict, and kills the rest after a failure. Returns the exit status
 * of zmpirun (zmpirun(1), EXIT STATUS): 128 plus the signal that ended zmpirun; otherwise the highest status of any
 * rank, or the verdict's status if that is higher. */
int zending_finish(struct zrun *);

#endif
