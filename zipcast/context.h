/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A context: one node's state, which all modules share. README.md lists the modules: each calls only those below it.
 *
 * Threads: fields marked (lock) are shared with the application's threads under zipcast.lock. All other fields belong
 * to the context's thread. The application's threads connect (which blocks) and hand links, groups and messages to the
 * context's thread as commands (command.h). Blocks move without locks.
 */
#ifndef ZIPCAST_CONTEXT_H
#define ZIPCAST_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
/* A malloc that fails inside uthash must not end the program: an entry that was not added has no hh.tbl. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/control/auth.h"
#include "common/control/ctl.h"
#include "common/base/list.h"
#include "common/session/session.h"
#include "common/transport/base/transport.h"
#include "common/base/wait.h"
#include "zipcast/base/modules.h"
#include "zipcast/zipcast.h"

struct command;
struct node;
struct used;

/* A link, and its descriptors in the epoll set. Their events only end a sleep: an awake thread polls all links. */
struct cast_link {
	struct zlink *zlink;
	int rx_fd, tx_fd;
	bool blocked;	 /* the link had no room: nothing is posted until the next try, some turns later */
	bool watched;	 /* the epoll set also waits for room */
	bool posted;	 /* something was posted since the last flush */
	bool heard;	 /* a message has come: the other end's capabilities are known */
	bool failing;	 /* a write has failed: the link will tell the reason */
	uint32_t writes; /* one-sided writes under way into the other node's memory */
};

struct zipcast {
	/* set by zipcast_open, then read only */
	uint32_t me; /* this node's number */
	char session[ZCTL_NAME_MAX + 1];
	uint8_t key[ZAUTH_KEY_BYTES];
	enum zipcast_waiting waiting;
	enum zmodules_one_sided one_sided;
	int timeout_ms;
	struct zlistener *listener;
	enum zaddr_kind kind;
	char address[400];
	char fabric[ZCTL_NAME_MAX + 1]; /* "": this node has named none */
	struct zsession_params zipper;	/* how to reach zipperd; an empty user: not at all */
	int epoll, wake;
	pthread_t thread;

	pthread_mutex_t lock;
	pthread_cond_t executed;		   /* a command was executed, or a thread has ended its connecting */
	struct command *commands, **commands_tail; /* (lock) */
	struct used *used;			   /* (lock) the table; the thread owns entries that are over */
	struct node *node;			   /* [nnodes] set by zipcast_meet */
	uint32_t nnodes;
	atomic_bool pending; /* there are commands */
	atomic_bool asleep;  /* the thread sleeps, or is about to: a new command must wake it */

	/* the thread's */
	struct zipcast_group *groups;
	struct list runnable;	    /* groups that may have something to send */
	struct list guests, calls;  /* connections that are not yet a node's link */
	struct list ending, ended;  /* groups on their way out */
	uint32_t ndeadlines;	    /* groups that have a deadline */
	struct zendpoint *endpoint; /* of the transport that settles links, or NULL */
	const struct ztransport *settles;
	struct node **up; /* [nnodes] the nodes that have a link */
	uint32_t nup;
	struct zwait wait;
	int64_t active_ms; /* when something last came or went */
	int64_t looked_ms; /* when a busy turn last looked at the listener */
	uint64_t posts;	   /* messages and writes that links have taken */
	int64_t tick_ms;   /* when deadlines were last looked at */
	uint32_t turns;	   /* idle turns */
	uint32_t patience; /* turns until full links are tried again */
	bool met, stop;
	int64_t stop_ms; /* when a stopping thread ends at the latest */
};

static inline bool zcontext_on_thread(const struct zipcast *zc)
{
	return pthread_equal(pthread_self(), zc->thread);
}

/* Fills the cast_link and adds its receiving half to the epoll set. 0 or a negative errno. The context's thread. */
int zcontext_watch(struct zipcast *, struct cast_link *, struct zlink *);
/* Whether the epoll set also waits until the link has room to send. */
void zcontext_watch_for_room(struct zipcast *, struct cast_link *, bool watch);
void zcontext_unwatch(struct zipcast *, struct cast_link *);

#endif
