/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives on a spanning communicator that have a native half: from MPI_ANY_SOURCE (posted natively on the shadow and
 * in our posted queue), or from a local rank whose number differs in the shadow. Under the shim's lock.
 *
 * The side that matches first takes the receive away from the other side. A bridged message that finds such a receive
 * cancels the native half first. If that fails, native MPI has matched the receive with a local message, and the
 * bridged message goes on to the next receive. So the order of posting holds on both sides.
 *
 * The native half of a receive from MPI_ANY_SOURCE never has a derived datatype, see post_native: data with gaps arrive
 * in op->packed and are unpacked at completion.
 */
#ifndef ZIP_LIBZIP_ANYSOURCE_H
#define ZIP_LIBZIP_ANYSOURCE_H

#include <stdbool.h>

#include "libzip/world/comm.h"

struct zop;
struct zstation;

/* Messages may wait on both sides for a receive (or a probe) from anywhere: is the native one to be taken first? If a
 * probe has told of a message, that side comes first. MPI promises the probed message only to a receive from the source
 * that the status names (MPI-4.0 3.8.1). But a native library has one queue, so a receive with the probe's wildcards
 * gets it too, and programs count on that (Yorick's mpy). This holds for each tag by itself, for the last few tags.
 * Otherwise the sides take turns. */
bool zanysource_native_first(const struct zcomm *, int tag);
/* A probe from anywhere for tag `asked` has told of such a message; or the message has been taken. */
void zanysource_probed(struct zcomm *, int asked, int found, bool native);
void zanysource_taken(struct zcomm *, int tag);
/* Starts the receive on both sides. An MPI error class or a code of the native library. */
int zanysource_start(struct zop *);
/* Has the native half completed? Then the receive is complete, and out of our queue. */
bool zanysource_test(struct zop *);
/* Takes the receive away from native MPI. False: native MPI has matched it; then it is no longer in our queue. */
bool zanysource_claim(struct zop *);
/* After MPI_Request_free: the receive completes in progress. */
void zanysource_orphan(struct zop *);
/* Looks at one such receive, in idle turns. Returns whether it has completed. */
bool zanysource_poll_orphans(struct zstation *);

#endif
