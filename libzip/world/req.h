/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of the library, and their handles, which native MPI never issues (libzip/abi/abi.h). Native handles pass
 * through untouched. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_REQ_H
#define ZIP_LIBZIP_REQ_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libzip/abi/abi.h"
#include "libzip/world/idtab.h"

struct zcomm;
struct zreq;

/* The operations of a kind of request, called at its station. progress may be NULL where the bridge's poll completes
 * it. */
struct zreq_ops {
	const char *name;
	bool (*progress)(struct zreq *);	 /* is it complete? Then it also sets zreq.done */
	int (*start)(struct zreq *);		 /* persistent ones; NULL otherwise */
	int (*cancel)(struct zreq *);		 /* NULL: cannot be cancelled, completes normally */
	void (*destroy)(struct zreq *);		 /* frees what it owns, not the struct; may be NULL */
	const char *(*why)(const struct zreq *); /* text of its error; NULL: the class says it */
	bool (*is_native)(const struct zreq *);	 /* does native MPI alone complete it? NULL: no */
	bool collective; /* a nonblocking one: MPI_Request_free is an error (MPI-4.0 section 6.12) */
};

struct zreq {
	const struct zreq_ops *ops;
	bool done;   /* status is valid */
	bool active; /* persistent requests: started and not completed by a wait/test */
	bool persistent;
	bool orphan;	    /* MPI_Request_free was called: release when done */
	bool raised;	    /* the application's handler has had its error; valid with done */
	bool immortal;	    /* shared by many calls (the completed send): zreq_release leaves it alone */
	MPI_Request handle; /* MPI_REQUEST_NULL while the application has none */
	struct zcomm *comm; /* referenced; may be NULL */
	MPI_Comm local;	    /* the local communicator on which MPI_Wait raises its error, where comm is NULL; 0: none */
	int station;	    /* its station */
	struct zreq *next;  /* next orphan that zreq_poll_orphans looks at */
	MPI_Status status;  /* MPI_SOURCE is the rank in comm; count and cancelled set; MPI_ERROR is the result */
};

/* Is this handle one of ours, by its bits alone? */
static inline bool zreq_is_ours(MPI_Request handle)
{
	return zabi_is_own_request(handle);
}
/* The station of a request of ours, by the bits of its handle. */
int zreq_station_of(MPI_Request handle);
struct zreq *zreq_find(MPI_Request handle); /* NULL: ours by its bits, but not alive */

/* Makes a zeroed request at this station, from a free list. bytes: size of a struct that begins with struct zreq.
 * References comm, which may be NULL. NULL: no memory. */
struct zreq *zreq_create(const struct zreq_ops *, size_t bytes, struct zcomm *comm);
/* Marks a request complete; its status must be filled. At its station. Releases an orphan, so do not touch it
 * afterwards. Every completion goes through here. */
void zreq_complete(struct zreq *);

/* For an orphan that only its progress completes, at its station: progress of the library calls zreq_poll_orphans now
 * and then, which looks at all of these. True: one has completed. */
void zreq_look_after(struct zreq *);
bool zreq_poll_orphans(void);

/* Gives the request a handle for the application. MPI_SUCCESS or MPI_ERR_NO_MEM. */
int zreq_publish(struct zreq *, MPI_Request *);
/* For a request that is completed and delivered, or was never published: destroys it, frees it and its handle, drops
 * its communicator. */
void zreq_release(struct zreq *);

/* Does native MPI alone complete it? Only a message inside this cluster does. */
static inline bool zreq_is_native(const struct zreq *r)
{
	return r->ops->is_native && r->ops->is_native(r);
}

bool zreq_progress(struct zreq *);
/* Is it complete? Does not turn the whole progress engine. */
static inline bool zreq_is_done(struct zreq *r)
{
	return r->done || (r->ops->progress && zreq_progress(r));
}
/* start: for persistent requests; cancel: for requests whose kind has it. MPI_SUCCESS, an error class, or a code that
 * has been raised. */
int zreq_start(struct zreq *);
int zreq_cancel(struct zreq *);

#endif
