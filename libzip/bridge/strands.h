/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One very large message over several tracks. An empty EAGER message with F_STRANDS stands in its place in the stream
 * and is matched like any other. The bytes that it announces come in strands, messages of their own in the library's
 * own context. Each strand is a transfer like any other, by the track that has the least to do (rails.h). Sender and
 * receiver compute where the strands begin from the length, and from the number of tracks that carry between their
 * parts. strands_send.h sends, deliver.h receives; here are the sums, and the turn that collects the strands of both.
 * Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_STRANDS_H
#define ZIP_LIBZIP_STRANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control/ctl.h"
#include "libzip/stream/op.h"
#include "libzip/world/req.h"

struct zremote;
struct zstation;
struct zwire_env;

#define ZSTRANDS_MAX 32 /* of one message */

struct zstrands {
	struct zreq req; /* of a send; receives have the application's own */
	struct zstrands *next;
	struct zop *recv; /* NULL: a send */
	int n, left;
	int error;
	struct zreq *strand[ZSTRANDS_MAX]; /* [n]; NULL: complete */
};

/* A strand is at least so long: the announcement and two more handshakes must cost little beside it. */
#define ZSTRANDS_STRAND_BYTES (UINT64_C(256) << 10)
#define ZSTRANDS_LEAST_BYTES (2 * ZSTRANDS_STRAND_BYTES) /* of a message in strands */

/* How many tracks carry between us and that rank, and how many strands a message of so many bytes has. */
int zstrands_tracks(uint32_t vrank);
int zstrands_count(uint64_t total, uint32_t vrank);
/* Where strand i of n begins, in bytes; i == n: where the last one ends. */
uint64_t zstrands_begin_of(uint64_t total, int n, int i);
/* The tag of the strands of a message with that number. Negative: the library's other messages in that context have no
 * such tags. */
int zstrands_tag_of(uint64_t xfer);

/* Is the envelope of an announcement well formed? */
bool zstrands_check(const struct zremote *from, const struct zwire_env *);
/* Receiver: the announcement of total bytes has been matched with op. Its strands are to be received, each with these
 * arguments. */
struct zstrands *zstrands_begin_recv(struct zop *, struct zremote *from, int tag, uint16_t flags, uint64_t total);
struct zop_args zstrands_recv_args(const struct zstrands *, int i, uint64_t xfer);
/* From now on the turn looks after its n strands. */
void zstrands_add(struct zstation *, struct zstrands *, int n);

/* Part of every turn of progress. Returns whether anything happened. */
bool zstrands_turn(struct zstation *);
/* Is there a message that must complete before MPI_Finalize does? */
bool zstrands_must_finish(const struct zstation *);

#endif
