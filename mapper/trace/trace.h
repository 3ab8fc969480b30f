/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sums of a trace: who sent how much to whom, collectives, and times. They become a communication graph, with all
 * in phase 1. Collectives are decomposed by the model of zipmap.graph(5), from the bytes that each rank sent and
 * received by the count of Score-P: what a rank hands to itself counts, except in place. One thread.
 */
#ifndef ZIP_MAPPER_TRACE_H
#define ZIP_MAPPER_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/graph/graph.h"
#include "common/graph/graph_load.h"
#include "mapper/trace/tallies.h"

#define TRACE_RANKS_MAX (1u << 30)

/* A communicator. Between two groups, members are those of both, one group behind the other. */
struct trace_comm {
	uint32_t *member;  /* [n], ranks of the world */
	uint32_t n, first; /* first: the size of the first group of two; 0: there is one */
};

struct trace {
	uint32_t ranks;
	struct trace_comm *comm; /* [comms] */
	uint32_t comms;
	struct tallies messages; /* rank, class and peer: bytes, messages */
	struct tallies sums;	 /* rank and communicator, kind and root: units, calls that send */
	struct tallies calls;	 /* rank, kind and size: calls, bytes */
	struct tallies times;	 /* rank, kind of time: calls, ns */
};

/* One rank's part in a collective. */
struct trace_call {
	enum zgraph_kind kind;
	uint32_t rank, comm; /* of the world; index of trace.comm */
	uint32_t root;	     /* in the communicator; where the kind has none, or between two groups, any number */
	uint64_t sent, received;
};

/* All return 0, -EOVERFLOW, -ENOMEM, -E2BIG, or -EINVAL (a rank that is not there, with text). */
int trace_add_message(struct trace *, uint32_t rank, enum zgraph_class, uint32_t peer, uint64_t bytes,
	uint64_t messages, struct zerr *);
int trace_add_call(struct trace *, const struct trace_call *, struct zerr *);
int trace_add_time(struct trace *, uint32_t rank, enum zgraph_span, uint64_t calls, uint64_t ns, struct zerr *);
/* The unit of the model of zipmap.graph(5), by the rank's place in its communicator of n. handed: the bytes that the
 * rank hands in. */
uint64_t trace_unit(const struct trace_call *, uint64_t place, uint64_t n, uint64_t *handed);
/* The place of a rank in a communicator, or its size. */
uint32_t trace_place(const struct trace_comm *, uint32_t rank);
bool trace_has_root(enum zgraph_kind);
/* Once all is added: decomposes the collectives, and sorts. */
int trace_finish(struct trace *, struct zerr *);
/* Writes a zipmap.graph(5) of the selected classes, with calls and times. 0 or a negative errno. */
int trace_save(const struct trace *, const char *path, const struct zgraph_select *, struct zerr *);
/* Makes a graph of the selected classes, as zgraph_load does. 0 or a negative errno. */
int trace_build(const struct trace *, const struct zgraph_select *, struct zgraph **, struct zerr *);
void trace_free(struct trace *);

#endif
