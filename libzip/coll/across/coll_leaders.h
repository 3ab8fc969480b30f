/* SPDX-License-Identifier: BSD-3-Clause */
/* What a member sends to several others, as to leaders of all other parts. */
#ifndef ZIP_LIBZIP_COLL_LEADERS_H
#define ZIP_LIBZIP_COLL_LEADERS_H

#include "libzip/schedule/step.h"
#include "common/config/tuning.h"

/* The same to n members: leaves once where the table says so (multicast, patience), otherwise once for each in this
 * order. The buffer as in zstep_send. */
int zbuild_to_several(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, const int *dest, int n,
	const struct ztuning_settings *);
/* To leader number a, of so many, of each other part, beginning with the next one; across, of each part of the remote
 * group. */
int zbuild_to_leaders(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, int leaders, int a,
	const struct ztuning_settings *);

#endif
