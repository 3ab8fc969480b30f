/* SPDX-License-Identifier: BSD-3-Clause */
/* What a multicast consists of: shared by its files, nobody else's business. Under the shim's lock. */
#ifndef ZIP_LIBZIP_MULTICAST_PARTS_H
#define ZIP_LIBZIP_MULTICAST_PARTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/type/content.h"
#include "libzip/bridge/op.h"
#include "libzip/bridge/outgoing.h"
#include "libzip/bridge/peer.h"
#include "libzip/world/req.h"
#include "common/wire/wire.h"

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
	/* The sends that wait, each the first of its receiver, to be posted together (op->held), nheld of them. Large:
	 * also those that go on together, and how far their fragments are. */
	struct zop **tied;
	int ntied, nheld;
	uint64_t moved;
	/* uneven: since when it could go on to some and not to others; 0: that is not so */
	int64_t patience_ns, uneven_ns;
};

/* multicast_list.c: the list of receivers that the carrier has. All return 0 or -EAGAIN. */
struct zwire_receiver zmulticast_receiver(const struct zremote *, uint64_t seq, uint64_t xfer);
/* The list from now on: that of a multicast or an operation, or NULL: nobody's. */
int zmulticast_post_list(const struct zwire_receiver *list, int n, const void *whose);
bool zmulticast_is_listed(const void *whose);
/* It may be gone: its list is nobody's. */
void zmulticast_unlist(const void *whose);
/* The carrier is another one, which has none. */
void zmulticast_forget_list(void);
/* To those of the list. xfer: of the message itself (wire.h). */
int zmulticast_post_message(struct zwire_env *, uint64_t xfer, const void *payload);

/* multicast.c: its sends, each to one receiver. */
/* A message of its own. */
void zmulticast_send_alone(struct zmulticast *, int dest);
/* One more, not yet started. NULL: none, and the multicast has the error. */
struct zop *zmulticast_make_send(struct zmulticast *, int dest);
/* Starts the one made last; if that fails it is none of its sends. */
void zmulticast_start_send(struct zmulticast *, struct zop *);
/* Is it still worth waiting for those that cannot have it yet? From the first such question on. */
bool zmulticast_is_patient(struct zmulticast *);

/* multicast_post.c, multicast_large.c. The turns return whether anything happened. */
int zmulticast_start_post(struct zmulticast *, const int *dest); /* MPI_SUCCESS or an error class */
bool zmulticast_turn_post(struct zmulticast *);
void zmulticast_let_go(struct zop *); /* which is held: it goes on alone, at once */
void zmulticast_start_large(struct zmulticast *, int dest);
bool zmulticast_turn_large(struct zmulticast *);

#endif
