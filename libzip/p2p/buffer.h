/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers that the application has attached for buffered sends: one of the process, those of communicators and
 * those of sessions (MPI-4.1 section 3.6). Native MPI uses them for sends to local ranks. Bridged buffered sends have
 * their own copies, of at most as many bytes as are attached; flushing and detaching wait for those too. Under the
 * shim's lock.
 */
#ifndef ZIP_LIBZIP_BUFFER_H
#define ZIP_LIBZIP_BUFFER_H

#include <stdbool.h>
#include <mpi.h>

#include "libzip/abi/abi.h"

/* Native MPI has been given buffered sends. Set before one is started or made. It stays set, because persistent ones
 * may be started at any time later. */
extern _Atomic bool zbuffer_used;

/* Sets the native communicator and the tag for a rank's messages to itself, by which it finds out whether native MPI's
 * buffer is empty. */
void zbuffer_init(MPI_Comm, int tag);

/* After native MPI_Buffer_attach of a buffer with size bytes, which has returned rc: notes the size. Returns rc. */
int zbuffer_attach(int rc, const void *buffer, MPI_Count size);
/* Before native MPI_Buffer_detach: waits until all messages in the buffer are sent. */
void zbuffer_empty(void);

/* MPI_Comm_attach_buffer. */
int zbuffer_attach_comm(const char *name, MPI_Comm, void *buffer, MPI_Count size);
/* Before native MPI_Comm_detach_buffer of the communicator that it returns: waits as zbuffer_empty does. */
MPI_Comm zbuffer_empty_comm(MPI_Comm);
/* As for the process, with the buffer of a session. */
int zbuffer_attach_session(int rc, MPI_Session, const void *buffer, MPI_Count size);
void zbuffer_empty_session(MPI_Session);

#define ZBUFFER_FULL "the attached buffer has no room for the message"

#endif
