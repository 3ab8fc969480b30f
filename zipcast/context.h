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
/* malloc failing inside uthash must not end the program: what was not added has no hh.tbl */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/control/auth.h"
#include "common/castplan/castplan.h"
#include "common/base/list.h"
#include "zipcast/modules.h"
#include "common/session/session.h"
#include "common/transport/base/transport.h"
#include "common/base/wait.h"
#include "zipcast/zipcast.h"

struct node;

/* A link and its descriptors in the epoll set (whose events only end a sleep: all links are polled then). */
struct cast_link {
	struct zlink *zlink;
	int rx_fd, tx_fd;
	bool blocked;	 /* post said "full": nothing is posted until it is tried again, within some turns */
	bool watched;	 /* for room, too */
	bool posted;	 /* since the last flush */
	bool heard;	 /* a message has come over it: its capabilities are known */
	bool failing;	 /* a write has failed: the link will tell why */
	uint32_t writes; /* under way, into the other node's memory */
};

struct early { /* about a group that is not made here yet */
	struct early *next;
	struct zwire_env env; /* READY, FAIL (without why) or LEAVE */
	uint8_t key[ZRMA_KEY_BYTES];
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
	char *fabric;			 /* owned; NULL: none was named, and address is */
	char *address;			 /* behind it */
	bool bridged;			 /* on another fabric than this node: reached by zipperd */
	char refused[ZIPCAST_WHY_BYTES]; /* bridged: why there is no link, if there was to be one */
	struct cast_link link;		 /* zlink NULL: none */
	struct early *early;
	uint32_t nearly;
	struct word *words, **words_tail; /* that its link had no room for */
	bool speechless;		  /* nor was there memory for them: the link goes */
	uint32_t says;			  /* the number that it has by its own words */
	int broken;			  /* why its sending half has failed, or 0 */
	struct zipcast_group *placing;	  /* a block of its message is arriving in its memory */
	bool calling;			  /* (lock) zipperd was asked to connect it (bridge.c) */
	bool connected;			  /* (lock) a link was handed over, and has not been lost since */
	bool connecting;		  /* (lock) one of the application's threads is at it: others wait for it */
	int connect_rc;			  /* (lock) what came of that */
	char *unreachable;		  /* (lock) and why, or NULL */
	struct list memberships;	  /* struct member.of_node: groups here that this node is in */
};

struct guest { /* has connected to us, and has not shown yet that it knows the key */
	struct list of_context;
	struct cast_link link;
	struct zctl_hello hello;
	struct zctl_challenge challenge;
	bool greeted, proved;
	struct node *called; /* who it must be, as zipperd has connected us; or NULL */
	uint32_t node;
	int64_t deadline_ms;
};

enum call_state {
	CALL_MEETS,	/* until the other end is there */
	CALL_CONNECTED, /* and will say who it is: to become a guest */
	CALL_GREETS,	/* we have said who we are */
	CALL_PROVES,	/* and shown it */
	CALL_PROVED	/* and so has it */
};

struct call { /* for a node on another fabric: zipperd was asked */
	struct list of_context;
	struct node *node;
	struct cast_link link;
	enum call_state state;
	struct zctl_hello hello;
	struct zctl_challenge challenge;
	char why[ZIPCAST_WHY_BYTES];
};

enum opening { /* does it send me the first block of a message? */
	OPENS_NONE,
	OPENS_SINGLE, /* of one that has no other block */
	OPENS_ALL
};

struct member { /* of a group, as seen from here */
	struct list of_node;
	struct zipcast_group *group;
	struct node *node; /* NULL: me */
	uint64_t ready;	   /* message it is ready to receive */
	bool first_only;   /* ready for one block, if the message has not more than first_of */
	uint64_t first_of;
	uint64_t key_for; /* message that it has given me the key to its memory for; 0: none */
	uint8_t key[ZRMA_KEY_BYTES];
	uint32_t writes; /* under way to it */
	uint64_t told;	 /* message that it knows we are ready for */
	bool told_all;	 /* and not just for its first block */
	bool greeted;	 /* it knows by READY what we take the group for */
	bool here;	 /* it has said something of the group */
	enum opening opens;
	uint32_t due; /* blocks to come from it, of the message that is arriving */
	bool exposed; /* its memory is open to it */
	bool over;    /* it has said FAIL or LEAVE: it writes no more */
	struct zrma_exposure exposure;
	uint64_t last;			       /* message that it takes part in; UINT64_MAX: it has not left */
	uint32_t without;		       /* node for which it has left: itself, or one that it needs */
	bool peer;			       /* we may exchange blocks with it */
	atomic_ullong sent_blocks, sent_bytes; /* to it; written by the context's thread, read by any */
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
	struct zcastplan *plan;
	struct zcastplan_step step; /* the next one in which I send */
	bool sending;		    /* there is one */
};

#define PINS_MAX 4
struct pin { /* the message's memory, for one domain of devices */
	const void *domain;
	const struct zrma *rma;
	struct zregion *region;
	int rc; /* 0, or why it cannot be */
};

struct zipcast_group {
	UT_hash_handle hh;    /* by number, in zipcast.groups */
	struct list runnable; /* in zipcast.runnable: something may be sent; or in zipcast.ending, or .ended */
	struct zipcast *zc;
	uint32_t number, nmembers, me, definition;
	enum zcastplan_algorithm algorithm;
	uint32_t block_bytes;
	uint32_t *site;
	uint32_t *by_node; /* [nmembers] places of the members, in the order of their nodes */
	struct member *member;
	const struct member *leaver; /* who leaves first, or NULL */
	uint64_t cut_off;	     /* message after which nothing can be heard of a member that has left; 0: none */
	struct zipcast_events events;
	struct message message;
	struct outgoing *queue, **queue_tail;
	bool untold; /* a member could not be told of our being ready, or is there only now */
	struct pin pin[PINS_MAX];
	uint32_t npins, writes; /* writes: under way, of all members' */
	/* Until all peers must have made it; 0: they have. Has failed: until its memory is taken back in any case. Set
	 * by zcast_group_deadline. */
	int64_t deadline_ms;
	bool leaving; /* the others have been told */
	/* How it ends: it fails or is destroyed, or both; when nobody reaches its memory any more, the application gets
	 * that back; freed when the commands that were queued until then have been taken. */
	atomic_bool failed;
	bool ended;		   /* destroyed */
	bool released;		   /* memory was given back */
	bool gone;		   /* out of everything */
	struct command *destroyer; /* waits for that */
	char why[ZIPCAST_WHY_BYTES];
};

enum command_kind {
	COMMAND_LINK,
	COMMAND_CALL,
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
	int rc;	     /* LINK, CALL, GROUP: 0, or why the link cannot be used, the group not be made */
	char *why;   /* LINK, CALL: [ZIPCAST_WHY_BYTES] */
};

struct used { /* number of a group that there is or was */
	UT_hash_handle hh;
	uint32_t number;
	bool over;	  /* destroyed here, or not made after all */
	bool failed;	  /* and it had failed */
	uint64_t last;	  /* message that was complete then */
	uint32_t without; /* node for which this one has left */
	/* Nodes that may be in the group still: they hear of failures by us. There is room for all members before it is
	 * over, and none when there are no such nodes any more. */
	uint32_t npeers, *peers;
};

struct zipcast {
	/* set by open, then read only */
	uint32_t me;
	char session[ZCTL_NAME_MAX + 1];
	uint8_t key[ZAUTH_KEY_BYTES];
	enum zipcast_waiting waiting;
	enum zcast_one_sided one_sided;
	int timeout_ms;
	struct zlistener *listener;
	enum zaddr_kind kind;
	char address[400];
	char fabric[ZCTL_NAME_MAX + 1]; /* "": none */
	struct zsession_params zipper;	/* how zipperd is reached, if it is */
	int epoll, wake;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t executed;
	struct command *commands, **commands_tail; /* (lock) */
	struct used *used;			   /* (lock) the table; entries that are over, the thread's */
	struct node *node;			   /* [nnodes] set by meet */
	uint32_t nnodes;
	atomic_bool pending; /* there are commands */
	atomic_bool asleep;  /* the thread, or about to be: who has a command wakes it */

	/* the thread's */
	struct zipcast_group *groups;
	struct list runnable, guests, calls, ending, ended;
	uint32_t ndeadlines;	    /* groups that have one */
	struct zendpoint *endpoint; /* of the transport that settles links, or NULL */
	const struct ztransport *settles;
	struct node **up; /* [nnodes] those with a link */
	uint32_t nup;
	struct zwait wait;
	int64_t active_ms; /* when something came last, or went */
	int64_t looked_ms; /* when the listener was looked at in a turn that was not idle */
	uint64_t posts;	   /* messages and writes that links have taken */
	int64_t tick_ms;   /* when deadlines were looked at last */
	uint32_t turns;	   /* that were idle */
	uint32_t patience; /* turns until links that were full are tried again */
	bool met, stop;
	int64_t stop_ms; /* at the latest, with what is left to say */
};

/* context.c */
void *zcast_run(void *zipcast);		    /* the thread */
void zcast_bury(struct zipcast *);	    /* groups that have ended are freed, once commands were taken */
void zcast_drop_commands(struct zipcast *); /* when there is no thread */
/* Hands it over, and waits until it was executed if it says so. Not from the context's thread then. */
void zcast_command(struct zipcast *, struct command *);
void zcast_command_done(struct zipcast *, struct command *);
bool zcast_on_thread(const struct zipcast *);
int zcast_watch(struct zipcast *, struct cast_link *, struct zlink *);
void zcast_unwatch(struct zipcast *, struct cast_link *);

/* node.c: links to other nodes */
int zcast_node_connect(struct node *, char *why);	     /* application's thread, which has set node.connecting */
int zcast_node_up(struct node *, struct zlink *, char *why); /* takes a link that is settled, in any case */
/* 0; 1: the other end has not said yet what it can; or a negative errno. */
int zcast_link_settle(struct zipcast *, struct zlink *, char *why);
void zcast_node_lost(struct node *, const char *why); /* its groups fail */
/* 0; -EAGAIN: later; -ENOTCONN: no link; others: it is broken, which its groups hear when it is polled. */
int zcast_node_post(struct node *, const struct zwire_env *, const void *payload);
/* Posts what must not be lost, now or when there is room; env.len bytes of text are copied. */
void zcast_node_tell(struct node *, const struct zwire_env *, const char *text);
int zcast_node_poll(struct node *); /* > 0: something came */
void zcast_node_flush(struct node *);
/* Its link was full: is there room now? Then the groups run that have something to send over it. */
void zcast_node_retry(struct node *);
void zcast_note_calling(struct node *, bool);

/* guest.c: who connects to this node */
bool zcast_guests_accept(struct zipcast *);
bool zcast_guests_turn(struct zipcast *);
void zcast_guest_close(struct zipcast *, struct guest *);
int zcast_guest_say(struct zlink *, const struct zctl_msg *); /* a control message; -EAGAIN: no room */
void zcast_guest_add(struct zipcast *, struct call *);	      /* its link; frees it */

/* bridge.c: nodes on other fabrics, by zipperd */
int zcast_bridge_init(struct zipcast *, const struct zipcast_config *, struct zerr *);
/* Has zipperd asked to connect the node, unless it was; how it ends, its groups hear. As zcast_node_connect. */
int zcast_bridge_call(struct node *, char *why);
int zcast_bridge_add(struct node *, struct zlink *, char *why); /* the link to zipperd, in any case */
/* Is there a link to it, or may there be one? It can have been refused before the group was there to hear that. */
bool zcast_bridge_hopes(struct node *);
/* zipperd has connected it, and it is who it should be: takes the link, which is settled. */
void zcast_bridge_up(struct node *, struct zlink *);
/* It cannot be connected: groups that need it fail. */
void zcast_bridge_refused(struct node *, const char *why);
bool zcast_calls_turn(struct zipcast *);
void zcast_call_close(struct zipcast *, struct call *);

/* group.c: groups, and what other members say of them */
/* -ENOMEM: it is to be abandoned, as it cannot be found. */
int zcast_group_begin(struct zipcast_group *);
void zcast_group_free(struct zipcast_group *);
void zcast_group_hears(struct node *, const struct zwire_env *, const void *payload); /* READY, FAIL, LEAVE */
/* Is a member missing for this message, as it has left? Then the group has failed. */
bool zcast_group_lacks(struct zipcast_group *, uint64_t message);
/* Who takes part in no message after the last one, as far as is known here, if this node leaves now. */
uint32_t zcast_leaves_without(const struct zipcast_group *);
/* Its connection has ended, or there will be none: groups in which we exchange blocks with it fail, if they need it
 * still. In others it is heard of by those who do. */
void zcast_members_lost(struct node *, const char *why);
void zcast_group_look(struct zipcast_group *, int64_t now_ms);		/* at its deadline */
void zcast_group_deadline(struct zipcast_group *, int64_t deadline_ms); /* 0: none */
struct zipcast_group *zcast_group_find(struct zipcast *, uint32_t number);
struct member *zcast_member_find(struct zipcast_group *, const struct node *);
/* For the message that is arriving, or else the next one, to whom does not know it yet; and to those who are to hear
 * nothing of the kind yet, for none: all peers compare what they take the group for. */
void zcast_say_ready(struct zipcast_group *);
void zcast_tell_all(struct zipcast_group *, struct zwire_env *, const char *text);

/* Do we exchange blocks with it, and is there a link? */
bool zcast_hears(const struct member *);

/* ending.c: failures and ends */
/* It has begun, but could not be made here; the others shall not wait. */
void zcast_group_abandon(struct zipcast_group *);
void zcast_group_fail(struct zipcast_group *, const char *why);
/* A member is missing for what comes; tell: the others do not know. */
void zcast_group_fail_without(struct zipcast_group *, bool tell);
/* Nothing more can be heard, as a member has left and closed the connection: it fails here alone. */
void zcast_group_cut_off(struct zipcast_group *);
/* Destroys it: it is gone then, or will be when nobody reaches its memory any more. */
void zcast_group_end(struct zipcast_group *);
/* The same, but gone on return: links whose other ends are writing to its memory break. */
void zcast_group_end_now(struct zipcast_group *);
/* What is ending goes on to do so. True: something happened. */
bool zcast_settle(struct zipcast *);

/* remote.c: blocks that are written into the memory of members, without messages */
/* May the member be able to write the blocks that it sends me? */
bool zcast_remote_wanted(const struct member *);
/* Opens the memory of the message that is arriving to it; false: it cannot be. */
bool zcast_remote_expose(struct member *);
void zcast_remote_conceal(struct member *);
/* Writes len bytes of the message to the same place in its memory, and tells it. 0; -EAGAIN; -EOPNOTSUPP: they are to
 * be sent. */
int zcast_remote_write(struct member *, uint64_t offset, uint32_t len);
/* The message's memory is the application's again. No writes are under way. */
void zcast_remote_unpin(struct zipcast_group *);
/* Waits for all writes of the group. False: some are under way still. */
bool zcast_remote_drain(struct zipcast_group *, int timeout_ms);
/* Those that are shall not go on: they will be complete soon, and their links broken. */
void zcast_remote_give_up(struct zipcast_group *);
/* Takes notice of writes that are complete. True: there were some. */
bool zcast_remote_reap(struct node *);
/* Before and after its link is closed. */
void zcast_remote_part(struct node *);
void zcast_remote_forget(struct node *);

/* used.c: numbers of groups, and of those that are over what is still said */
int zcast_used_reserve(struct zipcast_group *, struct zerr *); /* its number; any thread; -EEXIST, -ENOMEM */
/* It is over here; what is said of it from now on is answered by that. */
void zcast_used_note(const struct zipcast_group *, bool failed);
/* Of a group that there is not here. True: not any more. */
bool zcast_used_hears(struct node *, const struct zwire_env *, const char *text);
void zcast_used_free(struct used *);

/* message.c: blocks */
void *zcast_message_place(struct node *, const struct zwire_env *);
void zcast_message_take(struct node *, const struct zwire_env *);
void zcast_message_written(struct node *, const struct zwire_env *); /* a block */
void zcast_message_progress(struct zipcast_group *);		     /* sends what can be sent */
void zcast_message_drop(struct message *);

static inline void zcast_runnable(struct zipcast_group *g)
{
	if (!list_linked(&g->runnable))
		list_add(&g->zc->runnable, &g->runnable);
}

#endif
