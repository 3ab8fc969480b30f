/* SPDX-License-Identifier: BSD-3-Clause */
/* What the modules of the control thread share. Everything here belongs to the control thread. */
#ifndef ZIPPERD_DAEMON_H
#define ZIPPERD_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include "zipperd/settings/settings.h"
#include "zipperd/settings/keys.h"
#include "zipperd/control/limit.h"
#include "common/base/list.h"
#include "zipperd/memory/pool.h"

struct crew;
struct dialer;
struct job;
struct listener;

/* Something with a descriptor in the control thread's epoll set. */
struct watch {
	void (*ready)(struct watch *);
};

struct daemon {
	struct settings settings;
	struct settings_source source; /* where they are from, for reading them again */
	bool for_job;		       /* who started it for one has written its configuration */
	struct keys *keys;
	struct budget budget;
	int epoll;
	int hangups;	/* epoll set of peers that tells their ends alone, in the order in which they came */
	int64_t now_ms; /* monotonic; read once per turn of the loop */

	struct listener *listeners;
	int nlisteners;
	bool paused;		/* the listeners do not accept: too many connections, or no descriptors */
	int64_t pause_until_ms; /* 0: until connections go */

	int64_t descriptors;	    /* that may be open; 0: not known */
	int64_t wanted_connections; /* where they do not suffice for max_connections; else 0 */
	int64_t full_since_ms;	    /* there has been no room for connections (capacity.h); 0: there is */

	struct list strangers;	      /* peers that have not proved who they are, oldest first */
	struct list greeted;	      /* peers that have, but not said what they want, oldest first */
	struct list known;	      /* peers without a time limit */
	struct list leaving;	      /* peers that are told something last */
	struct list again;	      /* peers with more to read than one turn allows */
	struct list dead;	      /* peers to be freed at the end of the turn */
	struct list draining;	      /* channels whose links are about to be closed */
	int64_t drain_ms;	      /* when to ask them next */
	int nstrangers, nconnections; /* connections: peers and channels */
	int nlate;		      /* peers that are to hear that there is no room */

	struct job *jobs; /* hash by user and id: those that can be joined, run, or are remembered */
	struct list all_jobs;
	int njobs;
	uint32_t last_job; /* number */

	struct list circuits;
	int ncircuits_timed; /* of them, that an end has left whose last words may come */

	struct crew *crew;
	struct dialer *dialer;
	bool stopping;
	struct limit bad_peer; /* log lines about connections that make no sense */
	struct limit no_accept;
	struct limit no_way; /* those about hops */
};

int daemon_watch(struct daemon *, int fd, uint32_t events, struct watch *); /* 0 or -errno */
void daemon_rewatch(struct daemon *, int fd, uint32_t events, struct watch *);
void daemon_unwatch(struct daemon *, int fd);
/* Remembers when the connection ends. owner is what daemon_hangups reports. 0 or -errno. */
int daemon_watch_hangup(struct daemon *, int fd, void *owner);
void daemon_unwatch_hangup(struct daemon *, int fd);
/* The owners of up to max ended connections, the first one to end first; their number. */
int daemon_hangups(const struct daemon *, void **owners, int max);

#endif
