/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of a random program, and the topics that they come from. A topic draws an operation from the model, the
 * same at every rank, and runs it. Everything that the run needs comes from the operation and the model, so that any
 * operation can be left out: those that need what it makes are then left out, too.
 */
#ifndef ZIP_RANDOM_TOPICS_H
#define ZIP_RANDOM_TOPICS_H

#include "model.h"
#include "waiting.h"

#define MOST_OPS 400

struct op {
	const struct topic *topic;
	int number;
	uint64_t seed;
	int kind;	  /* of the topic's */
	int comm, other;  /* communicators that the operation uses, -1: none */
	int made, nmade;  /* those that it makes: the first one, and how many */
	int uses;	  /* the number of an earlier operation that must have run, -1: none */
	bool pending;	  /* leaves its requests pending */
	int completed_by; /* the operation that completes them, -1: none so far */
	/* at run time */
	bool ran;
	struct waiting waiting; /* what is pending */
	void *kept;		/* what the topic keeps from run to run */
	char text[200];
};

struct topic {
	const char *name;
	int weight;
	/* Fills in the operation. Returns false if none is possible now. op->topic, number and seed are set. */
	bool (*draw)(struct op *op, struct draw *d);
	void (*run)(struct op *op);
	/* Gives back what kept holds, at the end of the program; may be NULL. Collective for the members. */
	void (*end)(struct op *op);
};

extern const struct topic topic_messages, topic_exchange, topic_collective, topic_complete, topic_make_comm,
	topic_threads, topic_lasting, topic_start, topic_windows, topic_attributes, topic_errors, topic_free_comm;

/* Whether deleted attributes are traced. MPI may delete those of a freed communicator when its last request is
 * complete. */
extern bool topic_watches_attributes;

/* --- the plan */
struct plan {
	int nops;
	struct op op[MOST_OPS];
};
extern struct plan plan;

/* Draws a whole program from model.seed into the plan and the model. */
void plan_draw(int nops);
/* Draws an earlier operation of the topic that is not over, or returns -1. */
int plan_pick(struct draw *d, const struct topic *topic, bool (*wanted)(const struct op *));

/* --- topics that threads run, too */
/* Runs random messages on a communicator. Requests go to pending, or are completed here if it is NULL. */
void messages_run(const struct model_comm *c, uint64_t seed, int tag, struct waiting *pending);
/* Runs a random collective on a communicator. */
void collective_run(const struct model_comm *c, uint64_t seed, struct waiting *pending);

#endif
