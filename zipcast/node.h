/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other nodes, and sending to them over their links. poll.h receives. The context's thread, unless a function or a
 * field marked (lock) says otherwise.
 */
#ifndef ZIPCAST_NODE_H
#define ZIPCAST_NODE_H

#include "common/wire/wire.h"
#include "zipcast/context.h"

struct early { /* a word about a group that is not made here yet */
	struct early *next;
	struct zwire_env env; /* READY, FAIL (without its text) or LEAVE */
	uint8_t key[ZRMA_KEY_BYTES];
};

struct word { /* a word about a group that must reach the node, kept until its link has room */
	struct word *next;
	struct zwire_env env;
	char text[];
};

struct node {
	struct zipcast *zc;
	uint32_t number;
	char *fabric; /* owned, address lies behind it; NULL: no fabric was named, address is owned */
	char *address;
	bool bridged;			 /* on another fabric than this node: reached through zipperd */
	char refused[ZIPCAST_WHY_BYTES]; /* of a bridged node: why it could not be connected */
	struct cast_link link;		 /* zlink NULL: there is none */
	struct early *early;		 /* nearly of them */
	uint32_t nearly;
	struct word *words, **words_tail; /* the link had no room for them */
	bool speechless;		  /* there was no memory for a word: the link is given up */
	uint32_t says;			  /* the number that the other end gives itself */
	int broken;			  /* why its sending half has failed, or 0 */
	struct zipcast_group *placing;	  /* a block is arriving right in this group's message */
	bool calling;			  /* (lock) zipperd was asked to connect it */
	bool connected;			  /* (lock) it has a link */
	bool connecting;		  /* (lock) an application's thread connects it: others wait */
	int connect_rc;			  /* (lock) how that ended */
	char *unreachable;		  /* (lock) and why, or NULL */
	struct list memberships;	  /* of struct member, by of_node: the groups here that the node is in */
};

/* Takes the link, which is settled: closes it if it cannot be used. 0 or a negative errno with text. Groups of the node
 * go on. */
int znode_up(struct node *, struct zlink *, char why[ZIPCAST_WHY_BYTES]);
/* The link is gone: frees all words and forgets the rest of the link's state. */
void znode_down(struct node *);
/* May there be a link soon, or is there one? A bridged node may have been refused before a group existed to hear it. */
bool znode_has_hope(struct node *);
void znode_note_calling(struct node *, bool); /* any thread */

/* Posts a message. 0; -EAGAIN: later; -ENOTCONN: no link; others: the link is broken, which its groups hear when it is
 * polled. */
int znode_post(struct node *, const struct zwire_env *, const void *payload);
/* Posts a word that must not be lost, now or when there is room; env.len bytes of text are copied. */
void znode_tell(struct node *, const struct zwire_env *, const char *text);
/* Posts the words that are left, and has the link send what it holds. */
void znode_flush(struct node *);
/* The link was full. If it has room now, the groups run that have something to send over it. */
void znode_retry(struct node *);

#endif
