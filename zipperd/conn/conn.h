/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection that the control thread has: of a rank, a launcher, a circuit's end, or an administrator. This module
 * has its life: it is made when a listener accepts it, and freed at the end of the turn in which it goes. hear.c reads
 * it, request.c answers. Control thread.
 */
#ifndef ZIPPERD_CONN_H
#define ZIPPERD_CONN_H

#include "common/control/ctl.h"
#include "common/transport/base/transport.h"
#include "zipperd/conn/address.h"
#include "zipperd/conn/daemon.h"
#include "zipperd/conn/watch.h"

struct circuit;
struct job;
struct listener;
struct munger_question;
struct rank;
struct user;

enum conn_state {
	CONN_HELLO,   /* nothing said yet */
	CONN_PROOF,   /* challenged */
	CONN_ATTACH,  /* a data channel: will say which job and rank it belongs to */
	CONN_READY,   /* has proved who it is */
	CONN_LEAVING, /* is told something last; what it says is dropped */
	CONN_DEAD,
};

struct conn {
	struct watch watch; /* first: the loop casts */
	struct daemon *daemon;
	const struct listener *listener;
	struct zlink *zlink;
	struct list link;	  /* in strangers, greeted, known, leaving or dead of the daemon */
	struct list again;	  /* in daemon.again */
	struct stranger stranger; /* until it has proved who it is */
	enum conn_state state;
	int64_t deadline_ms;	/* 0: none */
	uint64_t dropped_bytes; /* while leaving */
	bool late;		/* came when there was no room, and does not stay yet */
	bool visits;		/* a rank that is there, of a node's zipperd */
	bool inner;		/* a stream of a trunk: no connection that counts */

	struct zctl_hello hello;
	struct zctl_challenge challenge;
	uint8_t seal;			  /* the protection of the link: enum zseal_level */
	char hop_user[ZCTL_NAME_MAX + 1]; /* of the HELLO whose proof protects the link, where another one follows */
	struct munger_question *asks;	  /* munged about its credential; NULL: nothing */
	uint8_t secret[ZAUTH_KEY_BYTES];  /* the key that was proved, by MUNGE; else 0 */
	uint8_t key[ZAUTH_KEY_BYTES];	  /* of the session, once READY */
	uint64_t good_until_s;		  /* the end of what it has proved, in seconds since 1970; 0: there is none */
	struct user *user;		  /* whose account counts the connection; NULL: nobody's yet */
	struct rank *rank;		  /* of a job: set by JOIN */
	struct job *launches;		  /* set by CREATE */
	struct conn **held_at;	 /* where the rank or the job points to this connection; becomes NULL with it */
	struct circuit *circuit; /* that waits for its other end: set by MEET and REACH */

	int rx_fd, tx_fd; /* both watched, tx_fd for nothing while the connection is not blocked */
	bool blocked;	  /* the link is full, and head waits for it */
	struct out *head, **tail;
	size_t out_bytes;
};

/* ready: the reader of connections. Takes the link in any case. 0 or a negative errno with text. */
int conn_create(struct conn **, struct daemon *, const struct listener *, struct zlink *, void (*ready)(struct watch *),
	struct zerr *);
/* The same for a stream of a trunk (zipperd/trunk/trunk.h), whose end and messages its trunk tells. NULL: out of
 * memory.
 */
struct conn *conn_create_inner(struct daemon *, const struct listener *, struct zlink *, void (*ready)(struct watch *));
/* Closes the link; no effect on a connection that is DEAD. Not for a connection that waits for a circuit (hear.c). */
void conn_close(struct conn *);
/* Takes the link out of the connection, which goes: the link is the caller's, and its place in the user's account. */
struct zlink *conn_release(struct conn *);
/* Sends ERROR, and closes the connection as soon as it has read that. code is a positive errno. */
void conn_refuse(struct conn *, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Closes a stranger that goes for a newer connection, and tells it why. option, value: the limit that is reached. */
void conn_give_way(struct conn *, const char *option, int64_t value);
/* Lets the other end read what it was sent, drops what it says, closes after ms at the latest. */
void conn_dismiss(struct conn *, int64_t ms);
/* It has proved who it is, and is to say what it wants. */
void conn_greet(struct conn *);
/* It has said what it wants: from now on it may take its time. */
void conn_settle(struct conn *);
/* May it see and do everything here? It has proved to be a user that `administrators` lists, or root, by MUNGE. */
bool conn_administers(const struct conn *);
/* Frees the DEAD connections. */
void conn_bury_all(struct daemon *);
/* Is there a connection whose time runs? */
bool conn_any_timed(const struct daemon *);

#endif
