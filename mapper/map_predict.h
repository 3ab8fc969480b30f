/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a layout will cost: bytes and messages by how they travel, the load of every rail and node, a time. Exact sums
 * of the graph; the time is an estimate by a few rates.
 */
#ifndef ZIP_MAPPER_MAP_PREDICT_H
#define ZIP_MAPPER_MAP_PREDICT_H

#include "commgraph.h"
#include "map_job.h"
#include "map_kind.h"

struct map_sum {
	uint64_t bytes, messages;
};
static inline void map_sum_add(struct map_sum *s, uint64_t bytes, uint64_t messages)
{
	s->bytes += bytes;
	s->messages += messages;
}

/* One direction of a zipper. */
struct map_rail {
	int zipper;	   /* of the hostfile */
	uint32_t from, to; /* map_site.fabric */
	struct map_sum load;
};

/* What one rank sends another one through zipperd. */
struct map_crossing {
	uint32_t from, to;
	struct map_sum load;
	unsigned forwards;
};

/* Seconds a message, bytes a second. Of the time a rank needs for its messages the longest counts, and of the time that
 * nodes and rails need for their bytes. */
struct map_rates {
	double latency[MAP_KINDS]; /* of MAP_BRIDGED: for each forward */
	double bandwidth;	   /* of a node's port, a direction */
	double forward;		   /* of a zipper, a direction */
};
void map_rates_default(struct map_rates *);

struct map_prediction {
	struct map_sum kind[MAP_KINDS];
	struct map_sum between[64][64]; /* of ranks in one cluster's job to those in another's: direct and bridged */
	uint64_t forwarded;		/* bytes x forwards */
	struct map_zippers zippers;	/* that it is spread over; none: all, or nothing can be bridged */
	struct map_rail *rails;		/* [nrails], all of the hostfile */
	uint32_t nrails;
	uint64_t *out, *in;	       /* [nnodes]: bytes that leave and reach a node */
	double messages_s, links_s;    /* time of the rank with most to do; of the busiest node or rail */
	double links_mean;	       /* with a network: links on the way of a byte that leaves its node, on average */
	char busiest[128];	       /* which */
	struct map_crossing *crossing; /* [ncrossings], heaviest first; at most `list` of map_predict */
	size_t ncrossings;
	uint64_t crossings; /* all there are */
};

/* list: how many crossings to name. The result does not depend on threads. 0, -ENOMEM, -ENETUNREACH (no
 * zippers join the clusters), -E2BIG (too many). */
int map_predict(struct map_prediction *, const struct zgraph *, const struct map_site *, const struct map_layout *,
	const struct map_rates *, size_t list, unsigned threads, struct zerr *);
void map_prediction_free(struct map_prediction *);
static inline double map_prediction_seconds(const struct map_prediction *p)
{
	return p->messages_s + p->links_s;
}

#endif
