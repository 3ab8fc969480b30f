/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank of a job, and what can happen to it. Control thread. */
#ifndef ZIPPERD_RANK_H
#define ZIPPERD_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/list.h"
#include "common/control/auth.h"
#include "common/control/ctl.h"

struct channel;
struct conn;
struct job;

struct rank {
	struct job *job;
	struct conn *conn; /* NULL: not joined, or gone */
	struct list channels;
	bool joined;
	bool done;		     /* said BYE */
	uint8_t state;		     /* enum zctl_state_what: what it does, as far as it has said */
	uint32_t vrank, part, lrank; /* vrank and lrank: once the job runs; before: lrank is the number in the group */
	uint32_t wish;		     /* the vrank that its map gives it, or ZCTL_VRANK_ANY */
	uint64_t abi;
	uint32_t universe, tag_ub; /* as in its JOIN */
	char *host;
	bool direct; /* takes direct links */
	uint64_t node;
	uint64_t fabrics;	      /* that it has ports on, a bit for each part; its own is always set */
	char *ports, *local;	      /* where it listens for other ranks; NULL: nowhere */
	uint8_t key[ZAUTH_KEY_BYTES]; /* of its session: for tickets */
};

/* Writes "rank 3 (das4 rank 1 on node101)" to buf, cut to cap bytes, and returns buf. */
const char *rank_describe(const struct rank *, char *buf, size_t cap);
/* Its channel to that part on that track, of the station with index endpoint. NULL: there is none. */
struct channel *rank_channel(const struct rank *, uint32_t track, uint32_t to, uint32_t endpoint);
/* It said BYE. */
void rank_bye(struct rank *);
/* It is dead: the job ends. */
void rank_lost(struct rank *, const char *how);
/* It lost a channel: it is dead, unless its BYE comes soon. */
void rank_suspect(struct rank *, const char *how);
/* It called MPI_Abort: the job ends. */
void rank_abort(struct rank *, const struct zctl_dead *);
/* It has lost this zipper and goes on by others. So all ranks must: the job ends here. */
void rank_quit(struct rank *, const struct zctl_dead *);
/* It broke the protocol: the job ends. */
void rank_breach(struct rank *, const char *what);
/* It cannot have a data connection: the job ends, and all ranks hear why. */
void rank_unconnected(struct rank *, const struct zerr *why);

#endif
