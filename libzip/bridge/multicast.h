/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message to several remote ranks, which leaves this rank once. zipperd makes a message for each receiver (wire.h,
 * RECEIVERS); it arrives in the receiver's usual stream and is matched as any other. Under the shim's lock.
 *
 * All such messages of a rank go over one channel, the carrier (carrier.h). A stream takes one way at a time (wire.h).
 * So a receiver gets a message of its own if its stream has something unacknowledged on another channel, if its stream
 * has no room or was refused, if it is reached directly, or if the carrier's zipper carries nothing to its part (ctl.h,
 * "Hops"). Once a message of a stream has gone by the carrier, all do until they are acknowledged.
 *
 * Large messages, where the carrier has one-sided transfers: one RTS with the key to the bytes is posted for all
 * receivers, as a small message is. zipperd reads the bytes once and writes them to all receivers
 * (zipperd/lane/fanout.h). Elsewhere large messages are offered (RTS) and granted (CTS) one by one; fragments go to
 * all receivers at once, as far as all have granted. A slow receiver holds up the others only for `patience`: if it
 * grants nothing more for so long while another one does, its message goes its own way from then on.
 */
#ifndef ZIP_LIBZIP_MULTICAST_H
#define ZIP_LIBZIP_MULTICAST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/world/req.h"

/* Sends to n remote ranks of comm, as zbridge_isend would to each of them. The caller keeps the buffer until the
 * request is done, and releases the request with zreq_release; dest may be given up on return. MPI class or
 * MPI_SUCCESS. */
int zmulticast_start(struct zcomm *, enum zcomm_context, const void *buf, MPI_Count count, MPI_Datatype,
	const int *dest, int n, int tag, int64_t patience_ms, struct zreq **);
/* Part of every turn of progress. Returns whether anything happened. */
bool zmulticast_turn(void);

/* The carrier is lost, and still has its link: takes back the memory that was open to its other end. */
void zmulticast_conceal(void);
/* The carrier is lost with everything on it, and there is another one: every send goes on alone. */
void zmulticast_lose_carrier(void);

#endif
