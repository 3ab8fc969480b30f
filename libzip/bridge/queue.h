/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of posted receives, and the queue of unexpected messages, which are kept until a receive or a probe asks
 * for them. match.h has the order. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_QUEUE_H
#define ZIP_LIBZIP_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "libzip/stream/match.h"
#include "libzip/world/comm.h"

struct zchannel;
struct zop;
struct zremote;
struct zstation;
struct zwire_env;

/* An unexpected message; from the pool. */
struct zqueued {
	struct zmatch_unexpected match; /* first */
	struct zremote *from;
	struct zchannel *way; /* that an RTS has come; NULL: the usual one */
	uint64_t context;
	uint64_t xfer;	/* sender's id; of RTS and F_SYNC */
	uint64_t total; /* bytes of the message */
	int tag;
	uint16_t flags;
	bool eager;
	bool keyed;
	struct zqueued *next; /* detached ones */
	uint8_t payload[];    /* eager: total bytes; keyed: the key of an RTS */
};

int zqueue_init(struct zstation *); /* 0 or -ENOMEM */
void zqueue_fini(struct zstation *);

/* The key of a receive. Collective traffic has no wildcards, and uses all 32 bits of the tag. */
struct zmatch_key zqueue_key(const struct zcomm *, enum zcomm_context, int rank, int tag);
/* Puts a receive at the end of the posted queue, or takes it out. */
void zqueue_post(struct zop *);
void zqueue_withdraw(struct zop *);

/* Keeps a message that no posted receive can have. 0, or -EAGAIN: no memory. */
int zqueue_keep(struct zremote *from, struct zchannel *way, const struct zwire_env *, const void *payload);
/* The unexpected message that a receive from rank (or MPI_ANY_SOURCE) with tag (or MPI_ANY_TAG) would take, or NULL. */
struct zqueued *zqueue_find(const struct zcomm *, int rank, int tag);
/* The rank in the communicator that it came from. */
int zqueue_source(const struct zqueued *, const struct zcomm *);
/* Takes a message out of the queue. */
void zqueue_take_out(struct zqueued *);
/* Takes it out for a matched probe, which holds it until a receive comes; and forgets that, when one has come. */
void zqueue_detach(struct zqueued *);
void zqueue_forget(struct zqueued *);
/* Visits every message that has not been given to a receive, in no order; none may be added or taken out. */
void zqueue_each(struct zstation *, void (*visit)(struct zqueued *, void *ctx), void *ctx);

#endif
