/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups and their members, as this node sees them. The context's thread, unless a function says otherwise. */
#ifndef ZIPCAST_GROUP_H
#define ZIPCAST_GROUP_H

#include "common/wire/wire.h"
#include "zipcast/context.h"
#include "zipcast/base/message.h"
#include "zipcast/node.h"

enum opening { /* whether a member sends this one the first block of a message */
	OPENS_NONE,
	OPENS_SINGLE, /* of messages of one block only */
	OPENS_ALL
};

struct member {
	struct list of_node; /* in node.memberships */
	struct zipcast_group *group;
	struct node *node; /* NULL: this node */
	bool neighbour;	   /* this node may exchange blocks with it */
	bool here;	   /* it has said something of the group */
	bool over;	   /* it has said FAIL or LEAVE: it writes no more */

	/* what it has told us */
	uint64_t ready;	   /* the message it is ready to receive */
	bool first_only;   /* ready for one block only, and only of a message of at most first_of blocks */
	uint64_t first_of; /* blocks */
	uint64_t key_for;  /* the message for which it has given us the key to its memory; 0: none */
	uint8_t key[ZRMA_KEY_BYTES];
	uint64_t last;	  /* the last message it takes part in; UINT64_MAX: it has not left */
	uint32_t without; /* the node for which it has left: itself, or one that it needs */

	/* what we have told it */
	uint64_t told; /* the message we have told it to be ready for */
	bool told_all; /* and for all blocks of it */
	bool greeted;  /* a READY has told it our definition of the group */

	bool child; /* this node sends it the block of a message of one block: its child in the tree of barriers */
	uint64_t entered; /* the barrier that it and all below it have entered */
	enum opening opens;
	uint32_t due;	 /* blocks of the arriving message that it will send */
	uint32_t writes; /* our one-sided writes to it that are under way */
	bool exposed;	 /* our memory is open to it */
	struct zrma_exposure exposure;
	atomic_ullong sent_blocks, sent_bytes; /* to it; written by the context's thread, read by any */
};

struct outgoing { /* a message that the root has queued */
	struct outgoing *next;
	void *data;
	uint64_t bytes;
};

struct entry { /* of this node's application, into a barrier */
	struct entry *next;
	void (*passed)(void *arg); /* or NULL */
};

#define PINS_MAX 4
struct pin { /* the message's memory, registered for one domain of devices */
	const void *domain;
	const struct zrma *rma;
	struct zregion *region;
	int rc; /* 0, or why registering failed */
};

struct zipcast_group {
	UT_hash_handle hh;    /* by number, in zipcast.groups */
	struct list runnable; /* in zipcast.runnable, and later in .ending or .ended */
	struct zipcast *zc;
	uint32_t number, nmembers;
	uint32_t me;	     /* this node's place in member */
	uint32_t definition; /* a hash of members, sites, algorithm and block size: members compare it */
	enum zcastplan_algorithm algorithm;
	uint32_t block_bytes;
	uint32_t *site;		     /* [nmembers], or NULL */
	uint32_t *by_node;	     /* [nmembers] places of the members, in the order of their nodes' numbers */
	struct member *member;	     /* [nmembers] */
	const struct member *leaver; /* the member that leaves first, or NULL */
	uint64_t cut_off; /* the message after which a member that has left cannot be heard any more; 0: none */
	uint64_t end;	  /* the last message of the group, as its root has said; UINT64_MAX: it has not */
	struct zipcast_events events;
	uint64_t end_barriers;		       /* and its barriers */
	void (*on_end)(void *arg);	       /* of the application, or NULL */
	struct entry *entries, **entries_tail; /* into barriers that are not passed */
	uint64_t entered, passed;	       /* barriers, 1, 2, ... */
	uint64_t told_entered, all_entered;    /* the barrier of which we have told the parent, and it has told us */
	uint32_t parent;		       /* ZIPCAST_NOBODY: this is the root */
	struct message message;
	struct outgoing *queue, **queue_tail;
	atomic_ullong accepted; /* messages that the root's application has handed over; written by its threads */
	atomic_bool sealed;	/* the root's application hands over no more; written by its threads */
	bool all_queued;	/* sealed, and all of them are in the queue or have left it */
	bool untold;		/* a member has still to be told that we are ready */
	struct pin pin[PINS_MAX];
	uint32_t npins;
	uint32_t writes; /* our one-sided writes under way, to all members */
	/* 0: none. Until all neighbours have made the group: when it fails without them. Once it has failed: when its
	 * memory is taken back in any case. Set by zgroup_set_deadline. */
	int64_t deadline_ms;
	bool leaving; /* the others have been told that we leave */
	/* The end: a group fails or comes to its end, or is destroyed, or both. When nobody reaches its memory any
	 * more, the application gets that back. The group is freed when all commands queued before have been taken. */
	atomic_bool failed;	   /* or closed: no message moves any more */
	bool closed;		   /* all messages came, and the end behind them: nothing can fail */
	bool ended;		   /* destroyed */
	bool released;		   /* its memory was given back */
	bool told_application;	   /* that it has failed, or that it is closed */
	bool gone;		   /* out of all tables and lists */
	struct command *destroyer; /* waits until it is gone, or NULL */
	atomic_uint suspect;	   /* of a failure: a place in member, or ZIPCAST_NOBODY; read by any thread */
	char why[ZIPCAST_WHY_BYTES];
};

struct zipcast_group *zgroup_find(struct zipcast *, uint32_t number);
/* A suspected member as FAIL names it (wire.h), and back. A number that is no member's gives ZIPCAST_NOBODY. */
int32_t zgroup_suspect_tag(const struct zipcast_group *, uint32_t place);
uint32_t zgroup_suspect_place(struct zipcast_group *, int32_t tag);
/* The group of an envelope (env.comm), or NULL. */
struct zipcast_group *zgroup_of(struct zipcast *, const struct zwire_env *);
/* The member on that node, or NULL. */
struct member *zgroup_find_member(struct zipcast_group *, const struct node *);
void zgroup_set_deadline(struct zipcast_group *, int64_t deadline_ms); /* 0: none */
/* Tells all neighbours that have a link; env.dst is set here, env.len bytes of text are copied. */
void zgroup_tell_all(struct zipcast_group *, struct zwire_env *, const char *text);
/* If this node leaves now: the node that takes part in no later message, as far as is known here. */
uint32_t zgroup_leaves_without(const struct zipcast_group *);
/* The shape of its messages' plans; blocks is left 0. */
struct zcastplan_shape zgroup_shape(const struct zipcast_group *);
/* Frees the queue of messages that are not sent any more, and of entries into barriers. */
void zgroup_drop_queue(struct zipcast_group *);
/* Any thread; the group is in no table or list. */
void zgroup_free(struct zipcast_group *);

static inline uint32_t zgroup_place(const struct member *m) /* in group.member */
{
	return (uint32_t)(m - m->group->member);
}

/* Is it a neighbour with a link, which can hear us? */
static inline bool zgroup_can_tell(const struct member *m)
{
	return m->node && m->neighbour && m->node->link.zlink;
}

/* Gives the group a turn before the thread sleeps. */
static inline void zgroup_set_runnable(struct zipcast_group *g)
{
	if (!list_linked(&g->runnable))
		list_add(&g->zc->runnable, &g->runnable);
}

#endif
