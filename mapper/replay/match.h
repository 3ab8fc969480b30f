/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching as in MPI: messages from one rank to another with the same key match receives in order. Items wait under
 * (source, destination, key), first come, first served: either messages or receives. One thread.
 */
#ifndef ZIP_MAPPER_MATCH_H
#define ZIP_MAPPER_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of what waits; the owner keeps it. */
struct match_item {
	struct match_item *next;
};

struct match_key {
	uint32_t from, to;
	uint64_t key;
};

struct match_queue;

/* Zeroed, it is empty. */
struct match {
	struct match_queue **slot; /* [slots] */
	size_t slots, n;
	struct match_queue *unused;
};

/* Takes the first item of the other kind: a message for a receive, and the other way round. If there is none, `item`
 * waits. The result is NULL then; *failed: there was no memory. */
struct match_item *match_meet(struct match *, const struct match_key *, bool is_message, struct match_item *item,
	bool *failed);
/* The same table can keep lines instead: one item under a key goes, and the others wait until it arrives. Returns
 * whether this item goes now; *failed: there was no memory. */
bool match_line(struct match *, const struct match_key *, struct match_item *item, bool *failed);
/* The item that went has arrived. Returns the next one, which goes now; NULL: there is none. */
struct match_item *match_line_next(struct match *, const struct match_key *);
void match_free(struct match *);

#endif
