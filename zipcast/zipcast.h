/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipcast: reliable multicast of large messages as a pattern of unicasts (RDMC: Behrens, Jha, Tremel, Birman, "Pushing
 * Bytes: Cloud-Scale Data Replication with RDMC"), over TCP, shared memory or Verbs. For programs with or without MPI.
 *
 * Nodes are numbered; each opens a context, tells the others its address by whatever way they have, and creates groups
 * together with the other members of each. Only the first member of a group, its root, sends. What the root sends,
 * every member receives once, undamaged and in order. Groups do not disturb each other, also where their members
 * overlap. If a member fails, or a connection between two that exchange blocks, `failed` is called once in every member
 * that lives, and nothing more happens in that group; other groups go on.
 *
 * Threads: each context has one thread of its own, which calls all callbacks. Functions may be called from any thread,
 * also from callbacks, except where it says otherwise. Callbacks must not block: all groups of the context wait
 * meanwhile. A child after fork has no such thread: nothing of a context may be used there.
 *
 * Errors: functions return 0 or a negative errno value, and where there is one, a text of one line in `why`.
 */
#ifndef ZIPCAST_H
#define ZIPCAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZIPCAST_WHY_BYTES 256
#define ZIPCAST_KEY_BYTES 32
#define ZIPCAST_NODES_MAX (1u << 20)
#define ZIPCAST_BLOCK_BYTES (256u << 10) /* default */
#define ZIPCAST_BLOCK_BYTES_MAX (1u << 20)

struct zipcast;	      /* a context */
struct zipcast_group; /* one member's side of a group */

/* How the context's thread waits for messages (the paper's section 5.2.3, Figure 11). */
enum zipcast_waiting {
	ZIPCAST_HYBRID,	   /* polls for up to 50 ms after something has come, then sleeps */
	ZIPCAST_POLL,	   /* always polls; yields the processor in between */
	ZIPCAST_INTERRUPTS /* sleeps whenever there is nothing to do */
};

struct zipcast_config { /* nothing of it is kept */
	uint32_t me;	/* my number, below ZIPCAST_NODES_MAX */
	/* "tcp:HOST[:PORT]" (port 0: any free one; no wildcard, as others are told it), "shm:PATH", or
	 * "DEVICE:PORT[@HOST[:PORT]]" (Verbs): a port of an RDMA device, and the TCP address at which connections to it
	 * are made. All nodes of a fabric have the same kind, which meet checks. */
	const char *listen;
	const char *session; /* 1 to 64 printable characters without spaces and commas, the same in all nodes */
	const uint8_t *key;  /* ZIPCAST_KEY_BYTES secret ones, the same in all nodes: who has them may join */
	/* For connections, and for the other members of a group to make it, once this one has; 0: 30 s. */
	uint32_t timeout_ms;
	enum zipcast_waiting waiting;
	/* Where nodes are on several fabrics (networks), and nothing but zipper nodes connects these, each node says:
	 */
	const char *fabric;	 /* which one it is on, as zipperd calls it; NULL: all nodes reach each other */
	const char *zipper;	 /* where zipperd listens there, as "tcp:HOST:PORT" */
	const char *user;	 /* whom zipperd knows */
	const uint8_t *user_key; /* by these ZIPCAST_KEY_BYTES; NULL: by key */
};

#pragma GCC visibility push(default)

int zipcast_open(struct zipcast **, const struct zipcast_config *, char why[ZIPCAST_WHY_BYTES]);
/* Where others reach this node, with the port that was chosen, behind its fabric ("FABRIC=ADDRESS") if it named one.
 * Valid until close. */
const char *zipcast_address(const struct zipcast *);
/* The addresses of all nodes by number, my own included. Once, before the first group; copied. -EALREADY: it was done.
 */
int zipcast_meet(struct zipcast *, const char *const *address, uint32_t nodes, char why[ZIPCAST_WHY_BYTES]);
/* Ends the context and destroys the groups that are left. From a callback it does nothing. */
void zipcast_close(struct zipcast *);

struct zipcast_events {
	/* A message of so many bytes begins to arrive: returns memory for it, which belongs to the group until complete
	 * or failed. NULL: the group fails. Its first block has come by then, which tells how long it is; over tcp and
	 * shm more of it may be on the way. */
	void *(*incoming)(void *arg, uint64_t bytes);
	/* This member has the whole message and has passed on its share (root: has sent it): data is the application's
	 * again. Other members may still be receiving. */
	void (*complete)(void *arg, void *data, uint64_t bytes);
	/* Once at most, and then nothing more: memory of unfinished messages is the application's again. */
	void (*failed)(void *arg, const char *why);
	void *arg;
};

struct zipcast_group_config {	 /* the same in all members; copied */
	uint32_t number;	 /* not used before in this context */
	uint32_t nmembers;	 /* 1 or more */
	const uint32_t *members; /* node numbers, the root first; none twice; I am one of them */
	const char *algorithm; /* NULL: "pipeline"; "sequential", "tree", "chain", "hybrid-chain", "hybrid-pipeline" */
	uint32_t block_bytes;  /* 0: ZIPCAST_BLOCK_BYTES */
	const uint32_t *site;  /* hybrids: [nmembers], which site each is in; every block enters a site once */
};

/* To be called by all members, in any order; connects to those that this member exchanges blocks with, which need not
 * have called it yet. Where that fails, the group fails in the others, and its number is used up. The group fails later
 * where those have not called it within timeout_ms, or mean another group by the number: other members or another order
 * of them, sites, algorithm or block size. Callbacks may come before it returns, but not before *group is set. Not from
 * a callback. */
int zipcast_group_create(struct zipcast_group **, struct zipcast *, const struct zipcast_group_config *,
	const struct zipcast_events *, char why[ZIPCAST_WHY_BYTES]);
/* Root: queues a message of 1 byte or more. data must stay as it is until complete (with the same pointer). Any number
 * may be queued; they are sent in order. -EPERM: not the root; -EPIPE: the group has failed; -EINVAL: data is NULL, or
 * no or too many bytes (2^31 blocks); -ENOMEM. */
int zipcast_send(struct zipcast_group *, const void *data, uint64_t bytes);
/* How many blocks, and bytes in them, this member has sent another one so far, by its place in `members`: of a message
 * that is complete here, all. */
void zipcast_group_sent(const struct zipcast_group *, uint32_t member, uint64_t *blocks, uint64_t *bytes);
/* Ends this member's part. Other members that still need us see the group fail: those of a message under way, which is
 * dropped here, at once, and of the next one when it is sent; where there is none, nobody does, as long as the context
 * stays open. No callback of the group runs during or after it, unless called from one of them. Frees the group; memory
 * of messages that are queued or under way is the application's again. Over Verbs it waits for that until nobody writes
 * to the memory of a message that was arriving, and its own writes from it are complete: for two seconds at most, then
 * the connections break over which that still happens, and groups that need them fail. Called from a callback it waits
 * for its own writes alone, for 0.1 seconds at most, and connections break at once of those who are writing to it. */
void zipcast_group_destroy(struct zipcast_group *);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
