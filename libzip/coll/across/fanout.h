/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending the same data to several members, as to the leaders of all other parts. Under the shim's lock. */
#ifndef ZIP_LIBZIP_FANOUT_H
#define ZIP_LIBZIP_FANOUT_H

#include <mpi.h>

#include "common/config/tuning.h"
#include "libzip/schedule/sched.h"

/* Sends the same data to n members: as one multicast if the settings say so (multicast, patience), else to one after
 * the other in this order. The buffer as in zstep_send. MPI_SUCCESS or an error class. */
int zfanout_send(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, const int *dest, int n,
	const struct ztuning_settings *);
/* Sends to leader number a of `leaders` in each other part, beginning with the part behind mine. On an
 * intercommunicator these are all parts of the remote group. MPI_SUCCESS or an error class. */
int zfanout_to_leaders(struct zsched *, const void *buf, MPI_Count count, MPI_Datatype, int leaders, int a,
	const struct ztuning_settings *);

#endif
