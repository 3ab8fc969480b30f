/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the zippers of a job say, taken together: how many ranks have come and gone, whether the job is over, and
 * because of whom. While ranks join they need every zipper; afterwards the job goes on while one is left.
 */
#ifndef ZIP_LAUNCH_TALLY_H
#define ZIP_LAUNCH_TALLY_H

#include "launch/start/job.h"

/* Fills everything in the job that is of all zippers; once for each time that something has changed with one. */
void ztally_make(struct zjob *);
/* How many are neither dead nor lost. */
int ztally_left(const struct zjob *);
/*
 * Does this one say that a rank has died or aborted? Then so do all, one after the other, and that is why the job ends;
 * while one that says it alone has lost its connection to a rank that lives.
 */
bool ztally_tells_death(const struct zjob_rail *);
/* The ranks are gone, though a zipper has not said so: if another one has said that a rank died the job is over by
 * that. Else false, and nothing changed. */
bool ztally_believe_death(struct zjob *);

#endif
