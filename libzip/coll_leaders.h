/* SPDX-License-Identifier: BSD-3-Clause */
/* What a member sends to leaders of all other parts. */
#ifndef ZIP_LIBZIP_COLL_LEADERS_H
#define ZIP_LIBZIP_COLL_LEADERS_H

#include "schedule.h"
#include "tuning.h"

/* The same to leader number a, of so many, of each other part: leaves once where the table says so (multicast,
 * patience), otherwise once for each, beginning with the next part. The buffer as in zsched_send. */
int zbuild_to_leaders(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, int leaders, int a,
	const struct ztuning_settings *);

#endif
