/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments that cross the bridge at the same time. The messages of a segment begin in one round and are waited for some
 * rounds later, so that a pipeline does not stand still as long as each message takes. Segments are numbered from 0 and
 * begin in consecutive rounds. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_FLIGHT_H
#define ZIP_LIBZIP_FLIGHT_H

#include "libzip/coll/across/segments.h"
#include "libzip/schedule/sched.h"

struct zflight {
	int depth;	 /* rounds that a message may take, and that its buffer is in use; 0: not my flight */
	int (*steps)[2]; /* [depth] in turns: the first step of a segment, and the step behind its last one */
};

/* The depth for so many groups of segments: the setting, but not more than there are groups. */
int zflight_depth(const struct ztuning_settings *, int groups);
/* In the schedule's memory. MPI_SUCCESS or an error class. */
int zflight_init(struct zflight *, struct zsched *, int depth);
/* The steps that are added between these two calls are the messages of segment i. */
void zflight_begin(struct zflight *, const struct zsched *, int i);
void zflight_end(struct zflight *, struct zsched *, int i);
/* To be called in the last round of segment i, depth - 1 rounds behind the one where it began: this round ends when the
 * segment's messages are complete. MPI_SUCCESS or an error class. */
int zflight_land(const struct zflight *, struct zsched *, int i);

/* An array of flights, one for each strip. None of them is mine before zflight_init. NULL: no memory. */
struct zflight *zflight_strips(struct zsched *, int strips);
/* zflight_land for the segments of group i in all strips whose flight is mine. There need be no group i. */
int zflight_land_strips(const struct zflight *, struct zsched *, const struct zsegments *, int i);

#endif
