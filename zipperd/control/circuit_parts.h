/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner header of circuit.c and hop.c: what a circuit is, and how two links become one. Control thread. */
#ifndef ZIPPERD_CIRCUIT_PARTS_H
#define ZIPPERD_CIRCUIT_PARTS_H

#include "zipperd/control/channel.h"
#include "zipperd/control/circuit.h"

struct dial;

struct circuit {
	struct list link; /* in daemon.circuits */
	struct daemon *daemon;
	char user[ZCTL_NAME_MAX + 1], job[ZCTL_NAME_MAX + 1], name[ZCTL_NAME_MAX + 1];
	int fabric[2];		/* of the first one and the other */
	struct peer *waiting;	/* the first one; NULL: both have come */
	struct channel *end[2]; /* NULL: closed, or not yet */
	struct lane *lane[2];	/* from end i */
	int nlanes;		/* that workers have */
	/* One that leads to another zipperd (hop.h) */
	bool hop;
	struct dial *dial;  /* it is being connected; NULL: it is, or is none */
	struct zaddr there; /* where to */
	bool gives_pass;
	uint8_t pass[ZCTL_TOKEN_BYTES]; /* for others like this one, while it stands */
	bool over;
	struct lane *last; /* from the end that takes nothing more, but may have said something; NULL: there is none */
	uint64_t said;	   /* envelopes of it, when it was looked at last */
	int64_t until_ms;  /* it has so long to say more */
};

/* In the daemon's list, waiting for the peer that asked for it; NULL: out of memory. name is cut. */
struct circuit *circuit_create(struct daemon *, struct peer *, int from, int to, const char *name);
void circuit_destroy(struct circuit *);
/* The lanes and what is to be their ends. 0 or a negative errno with text. */
int circuit_make_parts(struct circuit *, struct zerr *);
/* Says the last word of ours to a peer, and gives its link, which is to be this end, to the workers that move its
 * messages. 0 or a negative errno with text. */
int circuit_greet(struct circuit *, int end, struct peer *, const struct zctl_msg *, struct zerr *);
/* Both links are the circuit's from now on, and messages flow. */
void circuit_begin(struct circuit *, struct zlink *first, struct zlink *second);

#endif
