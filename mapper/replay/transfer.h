/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in the network. A message is divided over the paths that its routing draws. With a static routing each path
 * has an equal part, and a weight in proportion. With an adaptive one the paths share all bytes: each carries what it
 * can. Flows share links max-min fair, and so they share the ends of nodes, if these have a limit. One thread.
 */
#ifndef ZIP_MAPPER_TRANSFER_H
#define ZIP_MAPPER_TRANSFER_H

#include "mapper/net/net.h"
#include "mapper/replay/agenda.h"
#include "mapper/replay/match.h"
#include "mapper/replay/replay_opts.h"
#include "mapper/replay/why.h"

/* Where a rank is. */
struct replay_place {
	uint32_t node, point; /* point: of the network */
};

struct replay_slot;

enum message_stage { MESSAGE_SENT, MESSAGE_GRANTED, MESSAGE_MOVES, MESSAGE_NEXT, MESSAGE_LEFT, MESSAGE_HERE };

/* A message on its way. transfer.c uses the first part, the files of the replay all. */
struct message {
	struct match_item item;	  /* first: waiting for its receive */
	struct agenda_item event; /* of kind AGENDA_MESSAGE */
	struct replay_place from, to;
	uint64_t bytes;
	uint32_t phase; /* of the rank that began it */
	uint32_t pools; /* parts that are under way */
	uint32_t hops;	/* of its longest path, once it moves or was measured */
	uint64_t draw;	/* 1 + its number among the messages that drew paths; 0: it has not drawn any */
	struct why *why;
	/* replay.c, replay_message.c: */
	enum message_stage stage;
	struct match_item line; /* waiting for the message before it between the same ranks */
	uint32_t from_rank, to_rank;
	double ready;			/* s, when the sender was ready */
	struct replay_slot *begun, *in; /* where a rank waits for its begin to be over; for its arrival. Or NULL */
	struct message *next, *prev;	/* all messages */
};

struct transfers;

/* Makes the network for nodes below `nodes`. All pointers stay the caller's. done: a message has left the network.
 * 0, -ENOMEM. Free with transfers_destroy in any case. */
int transfers_create(struct transfers **, const struct net *, uint32_t nodes, const struct replay_opts *,
	struct agenda *, struct why_store *, int (*done)(void *arg, struct message *, double now), void *arg);
void transfers_destroy(struct transfers *);
/* Finds m->hops, if hops take time, before the message moves. */
void transfers_measure(struct transfers *, struct message *);
/* A message begins to move. 0 or -ENOMEM. */
int transfers_begin(struct transfers *, struct message *, double now);
/* A part, of kind AGENDA_POOL, which was on the agenda and is taken from it, has moved. 0 or -ENOMEM. */
int transfers_end(struct transfers *, struct agenda_item *, double now);
/* When that part began. */
double transfers_since(const struct agenda_item *);
/* When the rates are to be found again at the latest, for what has begun and ended; INFINITY: they are right. */
double transfers_due(const struct transfers *);
/* All that begins and ends now has been told: finds the rates. 0 or -ENOMEM. */
int transfers_settle(struct transfers *, double now);
/* Writes the name of a WHY_LINK's id. is_end: it is a node's end, and no link. */
void transfers_name(const struct net *, uint32_t id, char *buf, size_t size, bool *is_end);

#endif
