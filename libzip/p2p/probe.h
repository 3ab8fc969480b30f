/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Probe and its matching forms, and the receives of messages that a matching probe has taken. Under the shim's
 * lock. */
#ifndef ZIP_LIBZIP_PROBE_H
#define ZIP_LIBZIP_PROBE_H

#include <mpi.h>

/* Receive a probed message; name is the MPI function, for error texts. MPI_SUCCESS or an error code that has been
 * raised. */
int zprobe_imrecv(void *buf, MPI_Count count, MPI_Datatype, MPI_Message *, MPI_Request *, const char *name);
int zprobe_mrecv(void *buf, MPI_Count count, MPI_Datatype, MPI_Message *, MPI_Status *, const char *name);

#endif
