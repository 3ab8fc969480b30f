/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bridged point-to-point messages: eager and rendezvous between this rank and remote ranks through zipperd, and the
 * progress of it all. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_BRIDGE_H
#define ZIP_LIBZIP_BRIDGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/transport/base/addr.h"
#include "libzip/world/comm.h"
#include "libzip/world/req.h"
#include "common/session/session.h"

/* Copied: standard, but the buffer may be used again at once. Detached: buffered, but the library's own, of which the
 * buffer that the program has attached knows nothing. */
enum zsend_mode { ZSEND_STANDARD, ZSEND_SYNC, ZSEND_BUFFERED, ZSEND_COPIED, ZSEND_DETACHED };

/* Starts a send to a remote rank of comm. The request is ours (zreq_done, zreq_release). MPI class or MPI_SUCCESS;
 * MPI_ERR_BUFFER: buffered, and there is no room for it. */
int zbridge_isend(struct zcomm *, enum zcomm_context, const void *buf, MPI_Count count, MPI_Datatype, int dest, int tag,
	enum zsend_mode, struct zreq **);
/* Starts a receive from a remote rank of comm, bridged half only. tag may be MPI_ANY_TAG. MPI_ANY_SOURCE is
 * zp2p_irecv's business (p2p.h). */
int zbridge_irecv(struct zcomm *, enum zcomm_context, void *buf, MPI_Count count, MPI_Datatype, int source, int tag,
	struct zreq **);
/* How many bytes from the beginning of the buffer a receive of MPI_BYTE has already got; 0 before anything is known. */
MPI_Count zbridge_arrived(const struct zreq *);

/* One turn of progress over everything: bridged links, control link, native library where something native is
 * pending for us, collective schedules. Never blocks. Returns whether anything happened. */
bool zprogress_poll(void);

/* The wait loop of the whole library: polls both worlds until done(ctx) is true, adaptively (common/base/wait.h); takes
 * the native library's progress into account; gives the lock up in every turn. */
void zprogress_wait(bool (*done)(void *ctx), void *ctx);
/* For the common case. */
void zprogress_wait_request(struct zreq *);

/* MPI_Init, after the world is known, and with the sessions of all rails, which are used until zbridge_fini and stay.
 * oversubscribed: more ranks (and zippers) than cores on this host. MPI_SUCCESS or an MPI error class. */
struct zbridge_params {
	const char *job; /* used until zbridge_fini */
	bool oversubscribed;
	bool launched; /* somebody else tells the user of zippers that are lost (ZIPPER_LAUNCHER) */
	enum { ZBRIDGE_WAIT_AUTO, ZBRIDGE_WAIT_SPIN, ZBRIDGE_WAIT_YIELD, ZBRIDGE_WAIT_SLEEP } wait; /* ZIPPER_WAIT */
	enum { ZBRIDGE_ONE_SIDED_AUTO, ZBRIDGE_ONE_SIDED_YES, ZBRIDGE_ONE_SIDED_NO } one_sided; /* ZIPPER_ONE_SIDED */
};
int zbridge_init(const struct zbridge_params *);
/* Waits until all our messages are acknowledged and sends that must still complete have. MPI_Finalize calls it before
 * its barrier (nobody may leave while messages to it are under way) and zbridge_fini once more. */
void zbridge_drain(void);
/* Waits until the bridged buffered sends are on their way: small ones retained, large ones received. */
void zbridge_wait_buffered(void);
/* Before a rank sleeps: tells zipperd, once a second at most, what it has sent over direct links. */
void zbridge_tell_direct(void);
/* Drains, says BYE on the data channels and closes them. */
void zbridge_fini(void);

#endif
