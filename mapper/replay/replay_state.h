/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of a replay, shared by its files: replay.c (ranks and their operations), replay_message.c (messages).
 */
#ifndef ZIP_MAPPER_REPLAY_STATE_H
#define ZIP_MAPPER_REPLAY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "mapper/program/program.h"
#include "mapper/replay/agenda.h"
#include "mapper/replay/match.h"
#include "mapper/replay/replay_opts.h"
#include "mapper/replay/replay_result.h"
#include "mapper/replay/transfer.h"
#include "mapper/replay/why.h"

/* An operation that has begun, until the wait. */
struct replay_slot {
	struct match_item item; /* first: a receive that waits for its message */
	const struct program_op *op;
	uint32_t rank;
	bool done;
	double seconds; /* that the rank needs for it when it is done */
	double time;	/* when it was done */
	struct why *why;
};

struct replay_rank {
	struct agenda_item event; /* first */
	uint32_t at, phase;
	struct replay_slot *slot; /* [program_rank.slots] */
	struct replay_slot *blocked;
	bool paid, ended; /* paid: the rank's own time for the operation is over */
	double since;	  /* s: when it was blocked */
	double entered;	  /* s: when it entered the phase */
	struct why *why;
};

struct replay {
	const struct program *p;
	const struct net *net;
	const struct replay_place *place;
	const struct replay_opts *o;
	struct replay_rank *rank; /* [ranks] */
	struct replay_slot *slot; /* of all ranks */
	double *in_phase;	  /* [ranks][phases], s */
	struct agenda agenda;
	struct why_store whys;
	struct match match, lines; /* lines: messages from one rank to another one, of which one moves at a time */
	struct transfers *net_side;
	struct message *messages, *unused;
	struct replay_result *result;
	uint32_t ended;
};

/* The operation is done; seconds: what the rank still needs for it. A rank that waits goes on. 0 or -ENOMEM. */
static inline int replay_state_done(struct replay *r, struct replay_slot *s, double now, struct why *why,
	double seconds)
{
	struct replay_rank *rank = &r->rank[s->rank];

	s->done = true;
	s->time = now;
	s->seconds = seconds;
	s->why = why_hold(why);
	return rank->blocked == s ? agenda_put(&r->agenda, &rank->event, now) : 0;
}

/* The time that a rank needs for a message, s. */
static inline double replay_state_overhead(const struct replay *r, uint64_t bytes)
{
	return r->o->overhead + r->o->per_byte * (double)bytes;
}

#endif
