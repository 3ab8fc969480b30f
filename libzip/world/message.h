/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of probed messages (MPI_Message). They have the same range of numbers as our requests (req.h), but a table of
 * their own: the handle of a request is not found where a message is wanted. Under the shim's lock. */
#ifndef ZIP_LIBZIP_MESSAGE_H
#define ZIP_LIBZIP_MESSAGE_H

#include <mpi.h>

/* Gives the object, which stays the caller's, a handle. 0 or -ENOMEM. */
int zmessage_publish(void *object, MPI_Message *);
void *zmessage_find(MPI_Message); /* NULL: not one of ours */
void zmessage_drop(MPI_Message);

#endif
