/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments that cross the bridge at the same time: the messages of one are begun in a round and waited for some rounds
 * later, so that a pipeline does not stand still for each of them as long as a message takes. Segments are numbered
 * from 0 and begin in consecutive rounds. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COLL_FLIGHT_H
#define ZIP_LIBZIP_COLL_FLIGHT_H

#include "libzip/coll/across/coll_segments.h"
#include "libzip/schedule/step.h"

struct zflight {
	int depth; /* so many rounds; a buffer that is received into or sent from is in use as long. 0: not mine */
	int (*steps)[2]; /* [depth] in turns: the first one, and behind the last one */
};

/* Of so many groups of segments: the setting, but no more than there are. */
int zflight_depth(const struct ztuning_settings *, int groups);
/* An error class. In the schedule's memory. */
int zflight_init(struct zflight *, struct zsched *, int depth);
/* The messages of segment i are the steps that are added between these. */
void zflight_begin(struct zflight *, const struct zsched *, int i);
void zflight_end(struct zflight *, struct zsched *, int i);
/* In the last of its rounds, the (depth - 1)th after that one: that round ends when they are complete. An error class.
 */
int zflight_land(const struct zflight *, struct zsched *, int i);

/* One for each lane, none of which is anybody's before zflight_init. NULL: no memory. */
struct zflight *zflight_lanes(struct zsched *, int lanes);
/* zflight_land for the segments of group i in the lanes that are mine. i may be that of no group. */
int zflight_land_lanes(const struct zflight *, struct zsched *, const struct zsegments *, int i);

#endif
