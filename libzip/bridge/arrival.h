/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes in over the data channels: checked, taken in sequence, matched with the posted receives, or kept as
 * unexpected messages until a receive or a probe asks for them. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_ARRIVAL_H
#define ZIP_LIBZIP_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "libzip/shim/station.h"
#include "libzip/bridge/match.h"
#include "libzip/bridge/op.h"
#include "common/wire/wire.h"

/* An unexpected message; from the pool. */
struct zarrival {
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
	struct zarrival *next; /* detached ones */
	uint8_t payload[];     /* eager: total bytes; keyed: the key of an RTS */
};

extern struct zmatch zarrival_match_of[]; /* [ZSTATIONS_MAX] */
#define zarrival_match (zarrival_match_of[zstation_here])

int zarrival_init(void); /* 0 or -ENOMEM */
void zarrival_fini(void);

/* The sink of the channels; ctx is the struct zchannel. */
void *zarrival_place(void *ctx, const struct zwire_env *);
int zarrival_take(void *ctx, const struct zwire_env *, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload);

/* The key of a receive. Collective traffic has no wildcards, and uses all 32 bits of the tag. */
struct zmatch_key zarrival_key(const struct zcomm *, enum zcomm_context, int rank, int tag);
/* A receive starts: takes an unexpected message, or is posted. */
void zarrival_start_recv(struct zop *);
/* Only the first half: true if a message was there for it. */
bool zarrival_try_unexpected(struct zop *);
/* The unexpected message that a receive from rank (or MPI_ANY_SOURCE) with tag (or MPI_ANY_TAG) would take, or NULL. */
struct zarrival *zarrival_find(const struct zcomm *, int rank, int tag);
/* The rank in the communicator that it came from. */
int zarrival_source(const struct zarrival *, const struct zcomm *);
/* Takes it out of the queue (a matched probe); zarrival_deliver gives it to a receive and frees it. */
void zarrival_detach(struct zarrival *);
void zarrival_deliver(struct zarrival *, struct zop *);

/* Every message that has been taken but not been given to a receive, in no order; none may be added or taken out. */
void zarrival_each(void (*visit)(struct zarrival *, void *ctx), void *ctx);

#endif
