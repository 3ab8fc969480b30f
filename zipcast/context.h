/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside a context: nodes and their links, groups and their messages, the thread that moves everything.
 *
 * Threads: what is marked (lock) is shared with the application's threads under zipcast.lock; everything else belongs
 * to the context's thread. The application's threads connect (blocking) and hand links, groups and messages over as
 * commands. Blocks move without locks.
 */
#ifndef ZIPCAST_CONTEXT_H
#define ZIPCAST_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <uthash.h>

#include "auth.h"
#include "list.h"
#include "castplan.h"
#include "transport.h"
#include "wait.h"
#include "zipcast.h"

struct node;

/* A link and its descriptors in the epoll set (whose events only end a sleep: all links are polled then). */
struct cast_link {
	struct zlink *zlink;
	int rx_fd, tx_fd;
	bool blocked; /* post said "full": to be armed and watched for room */
	bool posted;  /* since the last flush */
};

struct early { /* about a group that is not made here yet */
	struct early *next;
	uint8_t kind; /* READY, FAIL or LEAVE */
	uint32_t group;
	uint64_t message;
	uint32_t word; /* READY: the definition; LEAVE: who left first */
};
#define EARLY_MAX 65536 /* a node that sends more is broken */

struct word { /* what a node must be told of a group */
	struct word *next;
	struct zwire_env env;
	char text[];
};

struct node {
	struct zipcast *zc;
	uint32_t number;
	char *address;
	struct cast_link link; /* zlink NULL: none */
	struct early *early;
	uint32_t nearly;
	struct word *words, **words_tail; /* that its link had no room for */
	bool speechless;		  /* nor was there memory for them: the link goes */
	struct zipcast_group *placing;	  /* a block of its message is arriving in its memory */
	bool connected;			  /* (lock) a link was handed over, and has not been lost since */
	struct list memberships;	  /* struct member.of_node: groups here that this node is in */
};

struct guest { /* has connected to us, and has not shown yet that it knows the key */
	struct list of_context;
	struct cast_link link;
	struct zctl_hello hello;
	struct zctl_challenge challenge;
	bool greeted, proved, wrong;
	uint32_t node;
	int64_t deadline_ms;
};

struct member { /* of a group, as seen from here */
	struct list of_node;
	struct zipcast_group *group;
	struct node *node; /* NULL: me */
	uint64_t ready;	   /* message it is ready to receive */
	uint64_t told;	   /* message that it knows we are ready for */
	uint64_t last;	   /* message that it takes part in; UINT64_MAX: it has not left */
	uint32_t without;  /* node for which it has left: itself, or one that it needs */
	bool peer;	   /* we may exchange blocks with it */
};

struct outgoing { /* queued by the root */
	struct outgoing *next;
	void *data;
	uint64_t bytes;
};

struct message { /* under way */
	bool active;
	uint64_t number; /* 1, 2, ...; of the last one if not active */
	uint8_t *data;
	uint64_t bytes;
	uint32_t blocks, missing;
	uint8_t *have; /* [blocks] bits; NULL: root, has all */
	struct zcast_plan *plan;
	struct zcast_step step; /* the next one in which I send */
	bool sending;		/* there is one */
};

struct zipcast_group {
	UT_hash_handle hh;    /* by number, in zipcast.groups */
	struct list runnable; /* in zipcast.runnable: something may be sent */
	struct zipcast *zc;
	uint32_t number, nmembers, me, definition;
	enum zcast_algorithm algorithm;
	uint32_t block_bytes;
	uint32_t *site;
	struct member *member;
	const struct member *leaver; /* who leaves first, or NULL */
	uint64_t cut_off;	     /* message after which nothing can be heard of a member that has left; 0: none */
	struct zipcast_events events;
	struct message message;
	struct outgoing *queue, **queue_tail;
	bool untold;	     /* a member could not be told of our being ready, or is there only now */
	int64_t deadline_ms; /* until all peers must have connected; 0: they have */
	bool leaving;	     /* the others have been told */
	bool ended;	     /* destroyed; freed at the end of the turn */
	atomic_bool failed;
};

enum command_kind {
	COMMAND_LINK,
	COMMAND_GROUP,
	COMMAND_ABANDON,
	COMMAND_SEND,
	COMMAND_DESTROY,
	COMMAND_MEET,
	COMMAND_STOP
};

struct command {
	struct command *next;
	enum command_kind kind;
	struct node *node;
	struct zlink *zlink;
	struct zipcast_group *group;
	struct outgoing *out;
	bool waited; /* its maker waits for done; else it is the thread's to free */
	bool done;   /* (lock) */
	int rc;	     /* LINK: 0, or why the link cannot be used */
	char *why;   /* LINK: [ZIPCAST_WHY_BYTES] */
};

struct used { /* number of a group that there is or was */
	UT_hash_handle hh;
	uint32_t number;
	bool over;		 /* destroyed here, or not made after all */
	bool failed;		 /* and it had failed */
	uint64_t last;		 /* message that was complete then */
	uint32_t without;	 /* node for which this one has left */
	uint32_t npeers, *peers; /* nodes that may be in the group still: they hear of failures by us */
};

struct zipcast {
	/* set by open, then read only */
	uint32_t me;
	char session[ZCTL_NAME_MAX + 1];
	uint8_t key[ZAUTH_KEY_BYTES];
	enum zipcast_waiting waiting;
	int timeout_ms;
	struct zlistener *listener;
	char address[320];
	int epoll, wake;
	pthread_t thread;

	pthread_mutex_t lock, connecting; /* connecting: one at a time makes links */
	pthread_cond_t executed;
	struct command *commands, **commands_tail; /* (lock) */
	struct used *used;			   /* (lock) the table; entries that are over, the thread's */
	struct node *node;			   /* [nnodes] set by meet */
	uint32_t nnodes;
	atomic_bool pending; /* there are commands */

	/* the thread's */
	struct zipcast_group *groups;
	struct list runnable, guests, ended;
	struct zendpoint *endpoint; /* of the transport that settles links, or NULL */
	const struct ztransport *settles;
	struct node **up; /* [nnodes] those with a link */
	uint32_t nup;
	struct zwait wait;
	int64_t active_ms; /* when something came last */
	int64_t tick_ms;   /* when deadlines were looked at last */
	uint32_t turns;
	bool met, stop;
	int64_t stop_ms; /* at the latest, with what is left to say */
};

/* context.c */
void *zcast_run(void *zipcast);	   /* the thread */
void zcast_bury(struct zipcast *); /* groups that have ended are freed */
/* Hands it over, and waits until it was executed if it says so. Not from the context's thread then. */
void zcast_command(struct zipcast *, struct command *);
bool zcast_on_thread(const struct zipcast *);
int zcast_watch(struct zipcast *, struct cast_link *, struct zlink *);
void zcast_unwatch(struct zipcast *, struct cast_link *);
void zcast_set_blocked(struct zipcast *, struct cast_link *, bool);

/* node.c: links to other nodes */
int zcast_node_connect(struct node *, char *why);	     /* application's thread, under zipcast.connecting */
int zcast_node_up(struct node *, struct zlink *, char *why); /* takes a link that is settled, in any case */
/* 0; 1: the other end has not said yet what it can; or a negative errno. */
int zcast_link_settle(struct zipcast *, struct zlink *, char *why);
void zcast_node_lost(struct node *, const char *why);				   /* its groups fail */
int zcast_node_post(struct node *, const struct zwire_env *, const void *payload); /* 0, -EAGAIN, -ENOTCONN */
/* Posts what must not be lost, now or when there is room; env.len bytes of text are copied. */
void zcast_node_tell(struct node *, const struct zwire_env *, const char *text);
int zcast_node_poll(struct node *); /* > 0: something came */
void zcast_node_flush(struct node *);
bool zcast_guests_accept(struct zipcast *);
bool zcast_guests_turn(struct zipcast *);
void zcast_guest_close(struct zipcast *, struct guest *);

/* group.c: groups, and what other members say of them */
void zcast_group_begin(struct zipcast_group *);
/* It could not be made here; the others shall not wait. */
void zcast_group_abandon(struct zipcast_group *);
void zcast_group_fail(struct zipcast_group *, const char *why);
void zcast_group_end(struct zipcast_group *); /* out of everything; freed at the end of the turn */
void zcast_group_free(struct zipcast_group *);
void zcast_group_hears(struct node *, const struct zwire_env *, const void *payload); /* READY, FAIL, LEAVE */
/* Is a member missing for this message, as it has left? Then the group has failed. */
bool zcast_group_lacks(struct zipcast_group *, uint64_t message);
/* Who takes part in no message after the last one, as far as is known here, if this node leaves now. */
uint32_t zcast_leaves_without(const struct zipcast_group *);
/* Its connection has ended. */
void zcast_member_lost(struct member *, const char *why);
/* Nothing more can be heard, as a member has left and closed the connection: it fails here alone. */
void zcast_group_cut_off(struct zipcast_group *);
void zcast_group_look(struct zipcast_group *, int64_t now_ms); /* at its deadline */
struct zipcast_group *zcast_group_find(struct zipcast *, uint32_t number);
struct member *zcast_member_find(struct zipcast_group *, const struct node *);
/* For the message that is arriving, or else the next one, to whom does not know it yet. */
void zcast_say_ready(struct zipcast_group *);

/* Do we exchange blocks with it, and is there a link? */
bool zcast_hears(const struct member *);

/* used.c: numbers of groups, and of those that are over what is still said */
int zcast_used_reserve(struct zipcast *, uint32_t number, struct zerr *); /* any thread; -EEXIST */
/* It is over here; what is said of it from now on is answered by that. */
void zcast_used_note(const struct zipcast_group *, bool failed);
/* Of a group that there is not here. True: not any more. */
bool zcast_used_hears(struct node *, const struct zwire_env *, const char *text);
void zcast_used_free(struct used *);

/* message.c: blocks */
void *zcast_message_place(struct node *, const struct zwire_env *);
void zcast_message_take(struct node *, const struct zwire_env *);
void zcast_message_progress(struct zipcast_group *); /* sends what can be sent */
void zcast_message_drop(struct message *);

static inline void zcast_runnable(struct zipcast_group *g)
{
	if (!list_linked(&g->runnable))
		list_add(&g->zc->runnable, &g->runnable);
}

#endif
