/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many bytes of a buffer that the application has attached the bridged sends use: the buffer of the process
 * (MPI_Buffer_attach), that of a communicator (MPI_Comm_attach_buffer), or that of a session
 * (MPI_Session_attach_buffer). These sends have copies of their own; they only count. All stations share one buffer.
 * Groups and communicators that come from a session point to its buffer. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ATTACHED_H
#define ZIP_LIBZIP_ATTACHED_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/abi/abi.h"

struct zcomm;

struct zattached {
	MPI_Count bytes;	  /* size of the attached buffer; 0: there is none */
	_Atomic MPI_Count in_use; /* bytes of bridged messages */
	_Atomic bool is_full;	  /* a wait for room was in vain, and nothing has become free since */
	MPI_Session session;	  /* whose buffer it is; otherwise MPI_SESSION_NULL */
	bool open;		  /* the session has not ended */
	MPI_Errhandler kept;	  /* of the session, while zattached_of_native asks */
	struct zattached *next;	  /* of the next session */
};
extern struct zattached zattached_process;

/* The size of MPI_BUFFER_AUTOMATIC, in which every message has room. */
#define ZATTACHED_AUTOMATIC (INT64_MAX / 2)

/* The account of a session's buffer. It stays for ever: native MPI gives the handle to a later session. make: where
 * there is none yet, for an open session; NULL: out of memory. Else NULL: no communicator belongs to that session. */
struct zattached *zattached_of_session(MPI_Session, bool make);
/* The session ends, and its buffer is no longer attached. */
void zattached_end_session(MPI_Session);
/* The account of the session that native MPI has the native group from. NULL: of none, or of a session without an
 * account. An error that a function on a session finds in another thread meanwhile is returned without its handler. */
struct zattached *zattached_of_native(MPI_Group native);
/* The buffer that a buffered send on the communicator uses (MPI-4.1 section 3.6). The communicator owns its own. */
struct zattached *zattached_of(const struct zcomm *);
/* Is there room for a message of so many bytes beside the bridged sends that are under way? Native sends do not count:
 * native MPI has the same buffer for them. */
bool zattached_has_room(const struct zattached *, uint64_t bytes);

#endif
