/* SPDX-License-Identifier: BSD-3-Clause */
/* A multicast (multicast.h) and the sends to single receivers that it consists of. Under the shim's lock. */
#ifndef ZIP_LIBZIP_MULTICAST_SEND_H
#define ZIP_LIBZIP_MULTICAST_SEND_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/transport/base/transport.h"
#include "libzip/stream/tied.h"
#include "libzip/type/data.h"
#include "libzip/world/comm.h"
#include "libzip/world/req.h"

struct zop;

struct zmulticast {
	struct zreq req;	 /* first */
	struct zmulticast *next; /* in active */
	enum zcomm_context context;
	int tag, n;
	const void *buf;
	MPI_Count count;
	MPI_Datatype type;
	struct zdata data;
	uint8_t *packed; /* small ones that are not dense; from the pool */
	bool offers; /* large: all receivers are offered the bytes at once, which zipperd reads; as long as exposed */
	bool exposed;
	struct zrma_exposure exposure; /* of all bytes, to the carrier's other end */
	int error;
	struct zreq **sends; /* [n], not complete yet; the memory of both lists begins here */
	int nsends;
	struct ztied tied; /* [n] at most */
	/* uneven: since when it could go on to some and not to others; 0: that is not so */
	int64_t patience_ns, uneven_ns;
};

/* Sends a message of its own to that rank of the communicator. */
void zmulticast_send_alone(struct zmulticast *, int dest);
/* Makes one more send, not yet started. NULL: none, and the multicast has the error. */
struct zop *zmulticast_send_make(struct zmulticast *, int dest);
/* Starts the send made last; if that fails it is none of the sends. */
void zmulticast_send_start(struct zmulticast *, struct zop *);
/* Is it still worth waiting for receivers that cannot have the message yet? Counts from the first such question on. */
bool zmulticast_send_is_patient(struct zmulticast *);

#endif
