/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Circuits: two connections on different fabrics, between which everything is handed on as it is. A circuit has a lane
 * for either direction, with one source and one destination, and the workers move its messages as they move those of
 * jobs. Messages that one end sent before it closed still reach the other end, whichever half zipperd finds
 * closed first. Control thread.
 */
#ifndef ZIPPERD_CIRCUIT_H
#define ZIPPERD_CIRCUIT_H

#include "zipperd/conn/channel.h"
#include "zipperd/conn/conn.h"
#include "zipperd/lane/lane.h"

struct circuit {
	struct list link; /* in daemon.circuits */
	struct daemon *daemon;
	char user[ZCTL_NAME_MAX + 1], job[ZCTL_NAME_MAX + 1], name[ZCTL_NAME_MAX + 1];
	struct user *account;
	int fabric[2];		/* of the first end and the other */
	struct conn *waiting;	/* the first end; NULL: both have come */
	struct channel *end[2]; /* NULL: closed, or not yet there */
	struct lane *lane[2];	/* from end i */
	int nlanes;		/* that workers have */
	/* For a circuit that leads to another zipperd (hop.h). */
	bool hop;
	struct dial *dial;  /* its other end is being connected; NULL: it is not */
	struct zaddr there; /* the address of its other end */
	/* Its other end may be a stream of a trunk (trunk_open.h). */
	struct list of_trunk; /* it waits for the trunk */
	void (*ask)(struct circuit *, struct zlink *, int rc, const struct zerr *);
	struct worker *worker; /* of the trunk, for lane[0]; NULL: any */
	bool gives_pass;
	uint8_t pass[ZCTL_TOKEN_BYTES]; /* names it to further circuits to there, while this one stands */
	uint8_t key[ZAUTH_KEY_BYTES];	/* of the session that got the pass */
	uint8_t salt[ZCTL_MAC_BYTES];	/* of a data channel's way: the mac of its REACH */
	bool over;
	struct lane *last; /* from the end that takes nothing more, but may have said something; NULL: there is none */
	uint64_t said;	   /* envelopes of last, at the last look */
	int64_t until_ms;  /* the time that end has to say more, or that the first end waits for the other */
};

/* MEET of a connection: it waits for the other end, or both are connected, or it is refused. */
void circuit_meet(struct daemon *, struct conn *, const struct zctl_meet *);
/* The connection that waits goes, and the circuit with it. */
void circuit_forget(struct circuit *);
/* An event of the workers, except EVENT_HALF_GONE. */
void circuit_event(const struct event *);
/* Ends circuits that one end has left and whose last words have come, and those whose other end does not come. */
void circuit_expire_all(struct daemon *);
/* Is there a circuit whose time runs? */
bool circuit_any_timed(const struct daemon *);
void circuit_end_all(struct daemon *);
/* Calls add for both lanes of each circuit of that user and, unless it is "", that job. */
void circuit_count_all(const struct daemon *, const char *user, const char *job,
	void (*add)(void *arg, const char *from, const char *to, const struct lane *), void *arg);

/* For hop.c. A circuit in the daemon's list, which waits for the connection that asked for it. NULL: out of memory.
 * name is cut. */
struct circuit *circuit_create(struct daemon *, struct conn *, int from, int to, const char *name);
void circuit_destroy(struct circuit *);
/* Makes the lanes and both ends. 0 or a negative errno with text. */
int circuit_make_lanes(struct circuit *, struct zerr *);
/* Says the last word to a connection that is to be this end, and settles its link with the workers. 0 or a negative
 * errno with text. */
int circuit_greet(struct circuit *, int end, struct conn *, const struct zctl_msg *, struct zerr *);
/* Both links are the circuit's from now on, and messages flow. */
void circuit_begin(struct circuit *, struct zlink *first, struct zlink *second);

#endif
