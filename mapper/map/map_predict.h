/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a layout will cost: bytes and messages by how they travel, the load of every rail and node, a time. Exact sums
 * of the graph; the time is an estimate by a few rates.
 */
#ifndef ZIP_MAPPER_MAP_PREDICT_H
#define ZIP_MAPPER_MAP_PREDICT_H

#include "common/graph/graph.h"
#include "mapper/map/map_job.h"
#include "mapper/map/map_kind.h"
#include "mapper/map/map_ports.h"

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
	uint32_t in, out;  /* map_prediction.ports: where it comes in, and where it leaves */
	struct map_sum load;
};

/* What one rank sends another one through zipperd. */
struct map_crossing {
	uint32_t from, to;
	struct map_sum load;
	unsigned forwards;
};

/* Seconds a message, bytes a second. Of the time a rank needs to send its messages, or to receive them, the longest
 * counts, and of the time that ports and rails need for their bytes. */
struct map_rates {
	double latency[MAP_KINDS];	   /* of MAP_BRIDGED: for each forward */
	double bandwidth;		   /* of a port of a node, a direction */
	double forward;			   /* of a zipper, a direction */
	bool bandwidth_told, forward_told; /* by the user: then they count with a network (map_fabric.h), too */
};
void map_predict_default_rates(struct map_rates *);

struct map_prediction {
	struct map_sum kind[MAP_KINDS];
	struct map_sum between[64][64]; /* of ranks in one cluster's job to those in another's: direct and bridged */
	uint64_t forwarded;		/* bytes x forwards */
	struct map_zippers zippers;	/* that it is spread over; none: all, or nothing can be bridged */
	struct map_rail *rails;		/* [nrails], all of the hostfile */
	uint32_t nrails;
	struct map_ports ports;	       /* with what nodes and rails send over them */
	double messages_s, links_s;    /* time of the rank with most to do; of the busiest port or rail */
	double links_mean;	       /* with a network: links on the way of a byte that leaves its node, on average */
	char busiest[144];	       /* which */
	struct map_crossing *crossing; /* [ncrossings], heaviest first; at most `list` of map_predict */
	size_t ncrossings;
	uint64_t crossings; /* all there are */
};

/* list: how many crossings to name. The result does not depend on threads. 0, -ENOMEM, -ENETUNREACH (no
 * zippers join the clusters), -E2BIG (too many). */
int map_predict(struct map_prediction *, const struct zgraph *, const struct map_site *, const struct map_layout *,
	const struct map_rates *, size_t list, unsigned threads, struct zerr *);
void map_predict_free(struct map_prediction *);
/* Raises links_s and busiest to those of the rails, and of the ports that count: with what they carry for rails if all
 * do (NULL), else without that, as rails go by links of a network then. */
void map_predict_busiest(struct map_prediction *, const struct map_site *, const struct map_rates *, bool rails,
	const bool *ports);
static inline double map_predict_seconds(const struct map_prediction *p)
{
	return p->messages_s + p->links_s;
}

#endif
