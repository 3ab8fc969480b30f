/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many bytes of a buffer that the application has attached the bridged sends use: the buffer of the process
 * (MPI_Buffer_attach), that of a communicator (MPI_Comm_attach_buffer), or that of a session
 * (MPI_Session_attach_buffer). These sends have copies of their own; they only count. All stations share one buffer.
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ATTACHED_H
#define ZIP_LIBZIP_ATTACHED_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct zcomm;
struct zop;

struct zattached {
	MPI_Count bytes;	  /* size of the attached buffer; 0: there is none */
	_Atomic MPI_Count in_use; /* bytes of bridged messages */
	_Atomic bool is_full;	  /* a wait for room was in vain, and nothing has become free since */
	MPI_Session session;	  /* whose buffer it is; otherwise MPI_SESSION_NULL */
	struct zattached *next;	  /* of the next session */
};
extern struct zattached zattached_process;

/* The size of MPI_BUFFER_AUTOMATIC, in which every message has room. */
#define ZATTACHED_AUTOMATIC (INT64_MAX / 2)

/* The account of a session's buffer. It stays for ever: native MPI gives the handle to a later session. make: where
 * there is none yet; NULL: out of memory. Else NULL: no communicator belongs to that session. */
struct zattached *zattached_of_session(MPI_Session, bool make);
/* The buffer that a buffered send on the communicator uses (MPI-4.1 section 3.6). The communicator owns its own. */
struct zattached *zattached_of(const struct zcomm *);
/* Is there room for a message of so many bytes beside the bridged sends that are under way? Native sends do not count:
 * native MPI has the same buffer for them. */
bool zattached_has_room(const struct zattached *, uint64_t bytes);
/* A buffered send of the application begins to use the buffer of its communicator, or ends. No effect on other sends
 * (ZSEND_DETACHED). */
void zattached_take(struct zop *);
void zattached_give(struct zop *);

#endif
