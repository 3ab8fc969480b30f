/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffer that the application has attached for buffered sends. Native MPI uses it for sends to local ranks. Bridged
 * buffered sends have their own copies, of at most as many bytes as are attached; detaching waits for those too
 * (MPI-4.0 section 3.6). Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_BUFFER_H
#define ZIP_LIBZIP_BUFFER_H

#include <stdbool.h>
#include <mpi.h>

/* Native MPI has been given buffered sends. Set before one is started or made. It stays set, because persistent ones
 * may be started at any time later. */
extern _Atomic bool zbuffer_used;

/* Sets the native communicator and the tag for a rank's messages to itself, by which it finds out whether native MPI's
 * buffer is empty. */
void zbuffer_init(MPI_Comm, int tag);

/* After native MPI_Buffer_attach of size bytes, which has returned rc: notes the size. Returns rc. */
int zbuffer_attach(int rc, MPI_Count size);
/* Before native MPI_Buffer_detach: waits until all messages in the buffer are sent. */
void zbuffer_empty(void);

#define ZBUFFER_FULL "the attached buffer has no room for the message"

#endif
