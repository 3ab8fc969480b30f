/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection in the hands of the control thread: who is it, what does it want, what is it told. Control thread. */
#ifndef ZIPPERD_PEER_H
#define ZIPPERD_PEER_H

#include "common/control/ctl.h"
#include "zipperd/control/daemon.h"
#include "common/transport/base/transport.h"

struct circuit;
struct rank;

enum peer_state {
	PEER_HELLO,   /* nothing said yet */
	PEER_PROOF,   /* challenged */
	PEER_ATTACH,  /* a data channel: will say to whom it belongs */
	PEER_READY,   /* has proved who it is */
	PEER_LEAVING, /* is told something last; what it says is dropped */
	PEER_DEAD,
};

struct peer {
	struct watch watch; /* first: the loop casts */
	struct daemon *daemon;
	const struct listener *listener;
	struct zlink *zlink;
	struct list link;  /* in strangers, known, leaving or dead */
	struct list again; /* in daemon.again */
	enum peer_state state;
	int64_t deadline_ms;	/* 0: none */
	uint64_t dropped_bytes; /* while leaving */
	bool late;		/* came when there was no room, and does not stay yet */

	struct zctl_hello hello;
	struct zctl_challenge challenge;
	struct rank *rank;	 /* of a job: set by JOIN */
	struct job *launches;	 /* set by CREATE */
	struct circuit *circuit; /* for whose other end it waits: set by MEET */

	int rx_fd, tx_fd; /* both watched, the other one for nothing while it is not blocked */
	bool blocked;	  /* the link is full: out waits for it */
	struct out *head, **tail;
	size_t out_bytes;
};

/* Takes the link in any case. 0 or a negative errno with text. */
int peer_create(struct daemon *, const struct listener *, struct zlink *, struct zerr *);
/* Queued where the link is full; a peer that does not read is dropped in the end. */
void peer_send(struct peer *, const struct zctl_msg *);
void peer_send_bytes(struct peer *, const uint8_t *msg, size_t len);
/* ERROR, and away with it as soon as it has been read. code is a positive errno. */
void peer_refuse(struct peer *, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Lets it read what it was sent, drops what it says, closes after ms at the latest. */
void peer_dismiss(struct peer *, int64_t ms);
/* It has said what it wants: from now on it may take its time. */
void peer_settle(struct peer *);
/* Takes the link out of it: it is the caller's, the peer goes. */
struct zlink *peer_release(struct peer *);
void peers_expire(struct daemon *);	 /* those whose time is over */
void peers_continue(struct daemon *);	 /* those of daemon.again */
void peers_bury(struct daemon *);	 /* frees the dead */
bool peers_timed(const struct daemon *); /* is there any whose time runs? */
void peers_close(struct daemon *);	 /* all of them, at the end */

/* peer_send.c, for peer.c: sends what waits; says whether anything does, so that the loop watches for room; frees it.
 */
void peer_push(struct peer *);
void peer_set_blocked(struct peer *, bool blocked);
void peer_drop_unsent(struct peer *);
/* peer.c and peer_talk.c of each other: a message, by the state that its peer is in; */
void peer_hear(struct peer *, struct zctl_msg *);
/* it does not keep to the protocol: one line, and away with it; */
void peer_breach(struct peer *, const char *what);
/* it is no longer one of those who have not said who they are. */
void peer_leave_strangers(struct peer *);

#endif
