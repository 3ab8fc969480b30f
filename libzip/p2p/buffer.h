/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffer that the application has attached for buffered sends. Native MPI uses it for sends to local ranks. Bridged
 * buffered sends have their own copies, of at most as many bytes as are attached; detaching waits for those too
 * (MPI-4.0 section 3.6). Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_BUFFER_H
#define ZIP_LIBZIP_BUFFER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct zop;

/* Native MPI has been given buffered sends: set before one is started or made. Persistent ones may be started any time
 * later, so it stays. */
extern _Atomic bool zbuffer_used;

/* The native communicator and the tag with which a rank finds out that native MPI's buffer is empty: by messages to
 * itself. */
void zbuffer_init(MPI_Comm, int tag);

/* After native MPI_Buffer_attach of size bytes, which has returned rc: notes the size. Returns rc. */
int zbuffer_attach(int rc, MPI_Count size);
/* Before native MPI_Buffer_detach: waits until all messages in the buffer are sent. */
void zbuffer_empty(void);

extern MPI_Count zbuffer_attached; /* bytes; 0: none */

#define ZBUFFER_FULL "the attached buffer has no room for the message"

/* Is there room for a message of so many bytes beside the bridged ones of the program that are still on their way? If
 * not, it is waited for them a little: that one was received may be known elsewhere before it is here. What is native
 * is not counted: native MPI has the same buffer for it. */
bool zbuffer_has_room(uint64_t bytes);
/* A buffered send of the program begins to use it, and is over. Nothing for others (ZSEND_DETACHED). */
void zbuffer_take(struct zop *);
void zbuffer_give(struct zop *);

#endif
