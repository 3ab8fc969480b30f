/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipcast: reliable multicast of large messages as a pattern of unicasts (RDMC: Behrens, Jha, Tremel, Birman, "Pushing
 * Bytes: Cloud-Scale Data Replication with RDMC"), over TCP, shared memory or Verbs. For programs with or without MPI.
 *
 * Nodes are numbered. Each node opens a context, tells the others its address in any way they have, and creates groups
 * together with the other members of each group. Only the first member of a group, its root, sends. Every member
 * receives each message of the root once, undamaged and in order. Groups do not disturb each other, even if their
 * members overlap. No block is sent a second time: a connection delivers everything in order, or breaks. If a member
 * fails, or a connection between two members that exchange blocks, then every living member's `failed` is called once,
 * and nothing more happens in that group. Other groups go on. If the root ends the group, every member hears of that
 * behind the last message, and nothing can fail at that member any more.
 *
 * Threads: each context has one thread of its own, which calls all callbacks. Functions may be called from any thread,
 * also from callbacks, except where a function says otherwise. Callbacks must not block: all groups of the context wait
 * meanwhile. A child after fork has no such thread and must not use a context.
 *
 * Errors: functions return 0 or a negative errno value. Functions with `why` also set a text of one line there.
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
#define ZIPCAST_NOBODY UINT32_MAX	 /* no member */
#define ZIPCAST_BLOCK_BYTES (256u << 10) /* default */
#define ZIPCAST_BLOCK_BYTES_MAX (1u << 20)

struct zipcast;	      /* a context */
struct zipcast_group; /* one member's side of a group */

/* How the context's thread waits for messages (the paper's section 5.2.3, Figure 11). */
enum zipcast_waiting {
	ZIPCAST_HYBRID,	   /* polls for up to 50 ms after the last arrival, then sleeps */
	ZIPCAST_POLL,	   /* always polls, and yields the processor in between */
	ZIPCAST_INTERRUPTS /* sleeps whenever there is nothing to do */
};

struct zipcast_config { /* copied: nothing in it is needed after the call */
	uint32_t me;	/* this node's number, below ZIPCAST_NODES_MAX */
	/* "tcp:HOST[:PORT]" (port 0: any free one; no wildcard, as other nodes connect to HOST), "shm:PATH", or
	 * "DEVICE:PORT[@HOST[:PORT]]" (Verbs): a port of an RDMA device, and the TCP address at which connections to it
	 * are made. All nodes of a fabric have the same kind, which zipcast_meet checks. */
	const char *listen;
	const char *session; /* 1 to 64 printable characters without spaces and commas, the same in all nodes */
	const uint8_t *key;  /* ZIPCAST_KEY_BYTES secret bytes, the same in all nodes: a node with the key may join */
	/* For connections, and for the other members of a group to create it after this one has; 0: 30 s. */
	uint32_t timeout_ms;
	enum zipcast_waiting waiting;
	/* For nodes on several fabrics (networks) which only zipper nodes connect. Each node says: */
	const char *fabric;	 /* its own fabric, by zipperd's name; NULL: all nodes reach each other */
	const char *zipper;	 /* where zipperd listens on this fabric, as "tcp:HOST:PORT" */
	const char *user;	 /* a user that zipperd knows */
	const uint8_t *user_key; /* the user's ZIPCAST_KEY_BYTES; NULL: key */
};

#pragma GCC visibility push(default)

int zipcast_open(struct zipcast **, const struct zipcast_config *, char why[ZIPCAST_WHY_BYTES]);
/* The address at which others reach this node, with the port that was chosen; "FABRIC=ADDRESS" if the node named its
 * fabric. Valid until close. */
const char *zipcast_address(const struct zipcast *);
/* Takes the addresses of all nodes by number, this node's own included; copied. Call it once, before the first group.
 * -EALREADY: it was called before. */
int zipcast_meet(struct zipcast *, const char *const *address, uint32_t nodes, char why[ZIPCAST_WHY_BYTES]);
/* Ends the context and destroys its remaining groups. Does nothing in a callback. */
void zipcast_close(struct zipcast *);

struct zipcast_events {
	/* A message of this length begins to arrive. Returns memory for it, which belongs to the group until complete
	 * or failed. NULL: the group fails. The first block, which tells the length, has come by then; over tcp and shm
	 * more blocks may be on the way. */
	void *(*incoming)(void *arg, uint64_t bytes);
	/* This member has the whole message and has passed on its share (root: has sent it). data is the application's
	 * again. Other members may still be receiving. */
	void (*complete)(void *arg, void *data, uint64_t bytes);
	/* Called at most once, and the last call. Memory of unfinished messages is the application's again.
	 * zipcast_group_suspect says which member is to blame. */
	void (*failed)(void *arg, const char *why);
	void *arg;
};

struct zipcast_group_config {	 /* the same in all members; copied */
	uint32_t number;	 /* never used before in this context */
	uint32_t nmembers;	 /* 1 or more */
	const uint32_t *members; /* node numbers, the root first, none twice; this node is one of them */
	const char *algorithm; /* NULL: "pipeline"; "sequential", "tree", "chain", "hybrid-chain", "hybrid-pipeline" */
	uint32_t block_bytes;  /* 0: ZIPCAST_BLOCK_BYTES */
	const uint32_t *site;  /* hybrids: [nmembers], the site of each member; every block enters a site once */
};

/* All members call it, in any order. It connects to the members with which this one exchanges blocks; they need not
 * have called it yet. If connecting fails, the group fails in the other members, and its number is used up. The group
 * fails later if those members do not call it within timeout_ms, or mean another group by the number: other members,
 * another order of them, other sites, another algorithm or block size. Callbacks may come before it returns, but not
 * before *group is set. Not from a callback. */
int zipcast_group_create(struct zipcast_group **, struct zipcast *, const struct zipcast_group_config *,
	const struct zipcast_events *, char why[ZIPCAST_WHY_BYTES]);
/* Root: queues a message of 1 byte or more. data must not change until complete is called with this pointer. Any number
 * of messages may be queued; they are sent in order. -EPERM: not the root; -EPIPE: the group has failed or ended;
 * -EINVAL: data is NULL, or bytes is 0 or too large (2^31 blocks); -ENOMEM. */
int zipcast_send(struct zipcast_group *, const void *data, uint64_t bytes);
/* Enters the next barrier of the group; every member may. passed is called, with the arg of the events, when all
 * members have entered it; NULL: nothing is called. Barriers and messages do not wait for each other. But a member that
 * enters when it has a message knows behind the barrier which others have it: all that did the same. The group fails if
 * a member has left that the barrier needs. Any number of barriers may be entered ahead. -EPIPE: the group has failed
 * or ended; -ENOMEM. */
int zipcast_group_barrier(struct zipcast_group *, void (*passed)(void *arg));
/* Root: ends the group behind all messages that are queued and all barriers that the root has entered. Each member
 * that has them all, the root too, calls its `ended` (zipcast_group_on_end); from then on it needs no other member. A
 * member that fails before it has them all fails the members that are not yet at the end. So an end here says nothing
 * about other members. Not while another thread calls zipcast_send. -EPERM: not the root; -EPIPE: the group has failed
 * or ended; -ENOMEM. */
int zipcast_group_end(struct zipcast_group *);
/* Sets the callback for the end of the group: called once, and the last call, instead of `failed`. arg is that of the
 * events. If the group has ended already, it is called soon. NULL: none, as at first. */
void zipcast_group_on_end(struct zipcast_group *, void (*ended)(void *arg));
/* The member that is to blame for the failure: its place in `members`. It is known when `failed` is called. If one
 * member has died, or has left a group that still needed it, or has no memory, then all members name that one. If only
 * a connection broke, each of its two ends names the other end, and every other member names one of the two. If several
 * members die at about the same time, each of the others names one of these. ZIPCAST_NOBODY: the group has not failed,
 * or nobody can tell who is wrong: members mean different groups by the number, or have different releases, or a node
 * takes itself for a member. Any thread. */
uint32_t zipcast_group_suspect(const struct zipcast_group *);
/* The blocks, and the bytes in them, that this member has sent so far to another one. member: its place in
 * `members`. All blocks of a message that is complete here are counted. */
void zipcast_group_sent(const struct zipcast_group *, uint32_t member, uint64_t *blocks, uint64_t *bytes);
/* Leaves the group and frees it. As root it first sends all messages that are queued, and then ends the group, as
 * zipcast_group_end does. It waits for that; a member that does not take them fails the group. In a callback it cannot
 * wait: if a message is not yet complete, the group fails in the other members, and so it does if the context is
 * closed. Members that still need one that is not the root see the group fail: at once if a message is under way, which
 * is dropped here, and otherwise when the next message is sent. If there is none, no member sees a failure as long as
 * the context stays open. No callback of the group runs during or after this call, except one that itself makes the
 * call. Memory of messages that are queued or under way is the application's again. Over Verbs the call waits until
 * nobody writes to the memory of an arriving message, and its own writes from it are complete. After two seconds it
 * breaks the connections over which that still happens, and groups that need them fail. In a callback it waits only for
 * its own writes, for 0.1 seconds at most, and at once breaks the connections of members that are writing. */
void zipcast_group_destroy(struct zipcast_group *);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
