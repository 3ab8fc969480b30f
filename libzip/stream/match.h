/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching of bridged messages with receives (MPI-4.0 section 3.5): the posted and the unexpected queue. Every search
 * takes the time of at most four hash look-ups, whatever the depth. Under the shim's lock. No MPI in here.
 *
 * A receive stands in the posted queue under its own key; wildcards are part of the key. A message looks under the four
 * keys that could match it, and takes the receive that was posted first. An unexpected message stands under all four of
 * its keys; a receive looks only under its own key. Entries of one key are in order of arrival.
 *
 * The queues have only bridged halves. A receive from MPI_ANY_SOURCE on a spanning communicator is also posted
 * natively, see anysource.h.
 */
#ifndef ZIP_LIBZIP_MATCH_H
#define ZIP_LIBZIP_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZMATCH_ANY_SOURCE 1u
#define ZMATCH_ANY_TAG 2u
#define ZMATCH_KEYS 4 /* combinations of the two wildcards */

struct zmatch_key {
	uint64_t context; /* communicator and kind of traffic */
	uint32_t source;  /* vrank; ignored (and 0) with ZMATCH_ANY_SOURCE */
	int32_t tag;	  /* ignored (and 0) with ZMATCH_ANY_TAG */
	uint32_t any;	  /* ZMATCH_ANY_* */
};

struct zmatch_hook { /* place in one table, under one key */
	struct zmatch_key key;
	struct zmatch_hook *bin_next, **bin_link; /* for the first entry of a key: the chain of its bin */
	struct zmatch_hook *next, *prev;	  /* ring of the entries with this key, in order */
	bool first;
};

struct zmatch_posted { /* part of a receive request */
	struct zmatch_hook hook;
	uint64_t serial; /* order of posting */
};

struct zmatch_unexpected { /* part of a message that has come */
	struct zmatch_hook hook[ZMATCH_KEYS];
};

struct zmatch_table {
	struct zmatch_hook **bin;
	uint32_t mask; /* bins - 1 */
	uint32_t keys; /* different keys in the table */
};

struct zmatch {
	struct zmatch_table posted, unexpected;
	uint32_t posted_count[ZMATCH_KEYS]; /* by kind of wildcard */
	uint64_t serial;
};

/* 0 or -ENOMEM. If the table cannot grow later, that costs speed only. */
int zmatch_init(struct zmatch *);
void zmatch_fini(struct zmatch *);

/* Puts a receive at the end of the posted queue. */
void zmatch_post(struct zmatch *, struct zmatch_posted *, const struct zmatch_key *);
/* Takes a receive out of the queue, matched or cancelled. */
void zmatch_withdraw(struct zmatch *, struct zmatch_posted *);
/* Finds the receive that this message must go to, and leaves it in the queue. NULL: there is none. */
struct zmatch_posted *zmatch_find_posted(struct zmatch *, uint64_t context, uint32_t source, int32_t tag);

/* Puts a message at the end of the unexpected queue. */
void zmatch_add_unexpected(struct zmatch *, struct zmatch_unexpected *, uint64_t context, uint32_t source, int32_t tag);
void zmatch_del_unexpected(struct zmatch *, struct zmatch_unexpected *);
/* Visits every unexpected message, in no order; it must stay in the queue meanwhile. */
void zmatch_each_unexpected(const struct zmatch *, void (*visit)(struct zmatch_unexpected *, void *ctx), void *ctx);
/* Finds the message that a receive with this key must take, and leaves it in the queue. NULL: there is none. */
struct zmatch_unexpected *zmatch_find_unexpected(struct zmatch *, const struct zmatch_key *);

/* A key with the wildcards' fields cleared. */
static inline struct zmatch_key zmatch_key_make(uint64_t context, uint32_t source, int32_t tag, uint32_t any)
{
	return (struct zmatch_key){
		.context = context,
		.source = any & ZMATCH_ANY_SOURCE ? 0 : source,
		.tag = any & ZMATCH_ANY_TAG ? 0 : tag,
		.any = any,
	};
}

#endif
