/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tuning table, zipper.tuning(5): the algorithm of a collective by size, communicator and bridge. The defaults are
 * rules in the same form; later rules count more. All members of a communicator must choose alike, so every rank of a
 * job must have the same table: zipperd compares digests when ranks join. Reading is start-up only, one thread.
 * Choosing allocates nothing; any thread.
 *
 *   bridge NAME=NUMBER ...                              measured numbers of the bridge: latency_ns, bandwidth
 *   COLLECTIVE [KEY>=NUMBER | KEY<NUMBER ...] SETTING=VALUE ...
 *                                                       the settings where all conditions are true; the last such rule
 *                                                       decides
 */
#ifndef ZIP_COMMON_CONFIG_TUNING_H
#define ZIP_COMMON_CONFIG_TUNING_H

#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

enum ztuning_collective {
	ZTUNING_BCAST,
	ZTUNING_GATHER, /* Gatherv too, and so on */
	ZTUNING_SCATTER,
	ZTUNING_ALLGATHER,
	ZTUNING_ALLTOALL,
	ZTUNING_REDUCE,
	ZTUNING_ALLREDUCE,
	ZTUNING_REDUCE_SCATTER,
	ZTUNING_SCAN, /* Exscan too */
	ZTUNING_COLLECTIVES,
};

/* One collective call, as all its members see it. */
struct ztuning_case {
	int64_t bytes;	     /* the meaning for each collective is in zipper.tuning(5) */
	int64_t ranks;	     /* members of the communicator */
	int64_t clusters;    /* parts that the members are in */
	int64_t members;     /* in the part with the fewest members */
	int64_t members_max; /* in the part with the most members */
};

enum ztuning_exchange { ZTUNING_EXCHANGE_ALL, ZTUNING_EXCHANGE_DOUBLING, ZTUNING_EXCHANGE_SLICES };
/* all: straight to all parts; the others as enum zcastplan_algorithm in castplan.h. */
enum ztuning_between {
	ZTUNING_BETWEEN_ALL,
	ZTUNING_BETWEEN_SEQUENTIAL,
	ZTUNING_BETWEEN_TREE,
	ZTUNING_BETWEEN_CHAIN,
	ZTUNING_BETWEEN_PIPELINE
};
#define ZTUNING_DEPTH_MAX 64
/* auto: gathered where the memory that the members share has room (libzip/world/board.h), else native. */
enum ztuning_inside { ZTUNING_INSIDE_AUTO, ZTUNING_INSIDE_GATHER, ZTUNING_INSIDE_NATIVE };

/* The settings that may be chosen. The manual page says which of them each collective has. */
struct ztuning_settings {
	int64_t segment;  /* bytes of a segment */
	int64_t segments; /* at most so many segments */
	int64_t depth;	  /* segments that cross at a time, in each strip */
	int64_t inside;	  /* enum ztuning_inside */
	int64_t exchange; /* enum ztuning_exchange */
	int64_t together; /* bytes: so many of MPI_Scatterv for one part cross in one message with their sizes */
	int64_t alone;	  /* bytes: blocks of so many and more go straight from or to the root; 0: none */
	int64_t leaders;  /* members of each part that cross for the others; at most as many as the smallest part has */
	int64_t aggregate; /* bytes: blocks of alltoall of up to so many travel together */
	int64_t window;	   /* larger blocks of alltoall that a rank may have on their way */
	int64_t multicast; /* 1: a message for several clusters leaves once, and zipperd hands it to all of them; 0:
			      once for each cluster */
	int64_t between;   /* enum ztuning_between */
	int64_t patience;  /* milliseconds that a slow receiver may hold up the others; then it gets its own copy */
};

struct ztuning_rule;
struct ztuning {
	int64_t latency_ns, bandwidth; /* of the bridge: half the round trip of a small message; bytes per second */
	struct {
		struct ztuning_rule *rules; /* [n], in the order of the table */
		int n;
	} of[ZTUNING_COLLECTIVES];
};

/* The defaults as text, which is also in etc/zipper.tuning. */
extern const char ztuning_defaults_text[];

/* Makes the table with the defaults alone. Returns 0 or -ENOMEM. To be freed with ztuning_free in any case. */
int ztuning_init(struct ztuning *, struct zerr *);
void ztuning_free(struct ztuning *);

/* A digest of the table. Equal tables have equal digests; different ones hardly ever have. */
uint64_t ztuning_digest(const struct ztuning *);
/* The settings for one call. Settings that the collective does not have are 0. */
struct ztuning_settings ztuning_choose(const struct ztuning *, enum ztuning_collective, const struct ztuning_case *);

#endif
