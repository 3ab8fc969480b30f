/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the control thread, which its modules share. */
#ifndef ZIPPERD_DAEMON_H
#define ZIPPERD_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/list.h"
#include "zipperd/conn/limit.h"
#include "zipperd/memory/pool.h"
#include "zipperd/settings/keys.h"
#include "zipperd/settings/node_key.h"
#include "zipperd/settings/settings.h"

struct addresses;
struct crew;
struct dialer;
struct job;
struct listener;
struct munger;
struct quotas;
struct signals;

#define DAEMON_PLAIN_MAX 8
struct plain_zipper { /* a zipperd that knows no trunks */
	struct zaddr addr;
	int64_t until_ms;
};

struct daemon {
	struct settings settings;
	struct settings_source source; /* the origin of the settings, for reading them again */
	char *settings_text;	       /* the settings at the start as text (reload.c); NULL: no memory */
	bool for_job;		       /* a launcher has started zipperd for one job, and written its configuration */
	struct keys *keys;
	struct node_key node;	 /* it serves the ranks of one job on their node */
	int nvisitors;		 /* the same: ranks that are there */
	int64_t lonely_since_ms; /* the same: the time since which none is; 0: some are */
	bool visited;		 /* the same: some have been */
	struct budget budget;
	int epoll;
	int hangups;	/* epoll set of connections that tells their ends alone, in their order */
	int64_t now_ms; /* monotonic; read once per turn of the loop */
	int64_t started_ms;
	uint64_t nrefused; /* connections that got an ERROR */

	/* listener.c */
	struct listener *listeners;
	int nlisteners;
	bool paused;		/* the listeners do not accept: too many connections, or no descriptors */
	int64_t pause_until_ms; /* 0: until connections go */

	/* capacity.c */
	int64_t descriptors;	    /* that may be open; 0: not known */
	int64_t wanted_connections; /* max_connections as configured, where descriptors do not suffice; else 0 */
	int64_t full_since_ms;	    /* the time since which there is no room for connections; 0: there is */
	bool crowded;		    /* the connection that is accepted next takes the place of a stranger */
	int most_connections;	    /* since memory was given back last */

	/* conn.c */
	struct list strangers; /* connections that have not proved who they are, oldest first */
	struct list greeted;   /* connections that have, but not said what they want, oldest first */
	struct list known;     /* connections without a time limit */
	struct list leaving;   /* connections that are told something last */
	struct list again;     /* connections with more to read than one turn allows */
	struct list dead;      /* connections to be freed at the end of the turn */
	int nconnections;      /* connections and channels */
	int nlate;	       /* connections that are to hear that there is no room */

	struct addresses *addresses; /* address.c */
	struct quotas *quotas;	     /* quota.c */

	/* channel.c */
	struct list draining; /* channels whose links are about to be closed */
	int64_t drain_ms;     /* the time to ask them next */

	/* job.c */
	struct job *jobs;     /* hash by user and id: jobs that can be joined, run, or are remembered */
	struct list all_jobs; /* these, and jobs that workers still have something of */
	int njobs;
	uint32_t last_job;  /* number */
	bool draining_jobs; /* no new jobs: an administrator has said so */
	int told_left;	    /* jobs that systemd was told of last, while draining_jobs */
	struct past *past;  /* job_past.c: jobs that have ended */

	/* circuit.c */
	struct list circuits;
	int ncircuits_timed; /* circuits that one end has left, and whose last words may still come; and those that wait
				for their other end */

	/* trunk.c */
	struct list trunks;  /* that can be used */
	struct list losing;  /* trunks whose sending half is lost */
	struct list quiet;   /* trunks that others have opened, and that have no streams */
	int ntrunks;	     /* these, and those that workers still have something of */
	uint32_t last_trunk; /* number */
	struct plain_zipper plain[DAEMON_PLAIN_MAX];

	/* watchdog.c */
	int64_t watchdog_ms;	 /* between two questions to the workers; 0: nobody asks */
	int64_t watchdog_due_ms; /* the time of the next question */
	int nsilent;		 /* workers that have not answered the last one */
	bool watchdog_warned;

	struct crew *crew;
	struct dialer *dialer;
	struct munger *munger; /* NULL: MUNGE is not in use */
	struct signals *signals;
	bool stopping;
	struct limit bad_conn;	/* of log lines about connections that make no sense */
	struct limit displaced; /* of log lines about strangers that went for newer ones */
	struct limit no_accept;
	struct limit no_way; /* of log lines about hops */
};

#endif
