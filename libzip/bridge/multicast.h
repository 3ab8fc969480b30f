/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message to several remote ranks, which leaves this rank once: zipperd makes a message for each of them (wire.h,
 * RECEIVERS). They receive it as any other, and match it in the same streams. Under the shim's lock.
 *
 * All such messages of a rank go over one channel, the carrier. A stream takes one way at a time (wire.h): a receiver
 * whose stream has something unacknowledged on its own channel gets a message of its own, and so does one that cannot
 * have the message now (window, refusal), that is reached directly, or to whose part the carrier's zipper carries
 * nothing (ctl.h, "Hops"). Once something in a stream has gone by the carrier, everything does until all of it is
 * acknowledged.
 *
 * Large messages, where the carrier has one-sided transfers: one RTS with the key to the bytes is posted for all, as a
 * small message is, and zipperd does the rest (zipperd/worker/fanout.h): it reads them once and writes them to all
 * receivers. Elsewhere they are offered (RTS) and granted (CTS) one by one; fragments go to all at once, as far as all
 * have granted. Who has not granted anything more for `patience` while another one has goes its own way from then on,
 * so that a slow receiver holds up the others only so long.
 */
#ifndef ZIP_LIBZIP_MULTICAST_H
#define ZIP_LIBZIP_MULTICAST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/world/req.h"

/* Sends to n remote ranks of comm, as zbridge_isend would to each of them. dest may be given up on return, the buffer
 * when the request is done; it is released with zreq_release. MPI class or MPI_SUCCESS. */
int zmulticast_start(struct zcomm *, enum zcomm_context, const void *buf, MPI_Count count, MPI_Datatype,
	const int *dest, int n, int tag, int64_t patience_ms, struct zreq **);
/* Part of every turn of progress. Returns whether anything happened. */
bool zmulticast_turn(void);

/* The carrier is lost, and still has its link: what was opened to its other end is taken back. */
void zmulticast_conceal(void);
/* The carrier is lost, with what was on it, and there is another one: every send goes on alone. */
void zmulticast_lose_carrier(void);

#endif
