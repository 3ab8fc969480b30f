/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums up what the zippers of a job say: how many ranks have come and gone, and whether the job is over. While ranks
 * join, the job needs every zipper. Afterwards it goes on as long as one zipper is left.
 */
#ifndef ZIP_LAUNCH_TALLY_H
#define ZIP_LAUNCH_TALLY_H

#include "launch/start/job.h"

/* Fills the fields of the job that describe all zippers together, and its cause (cause.h) if it is over. To be called
 * after each change at a zipper; the functions below do so. */
void ztally_make(struct zjob *);
/* Takes all events that have come, and sums up. Never blocks. */
void ztally_poll(struct zjob *);
/* A zipper's zipperd is gone, for the reason `why`: see zjob_lose. Sums up. */
void ztally_lose(struct zjob *, int rail, const char *why);

/* Looks whether zippers that were lost have come back, as zagain_turn, and sums up. */
void ztally_again(struct zjob *, int64_t now);

/* Asks all zippers whether they are there, as zjob_ask. */
void ztally_ask(struct zjob *, int64_t limit_ms);

#endif
