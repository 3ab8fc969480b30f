/* SPDX-License-Identifier: BSD-3-Clause */
/* The predicted cost of a layout: bytes and messages by the way they travel, the load of every rail and node, a time.
 * The sums are exact for the graph. The time is an estimate by a few rates. */
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
	int zipper;	   /* index into the hostfile's zippers */
	uint32_t from, to; /* indices into map_site.fabric */
	uint32_t in, out;  /* index into map_prediction.ports: the port where bytes come in; the one where they leave */
	struct map_sum load;
};

/* The messages from one rank to another one through zipperd. */
struct map_crossing {
	uint32_t from, to;
	struct map_sum load;
	unsigned forwards;
};

/* Rates for the time estimate: seconds for a message, bytes a second. A rank needs time to send its messages and to
 * receive them; ports and rails need time for their bytes. The longest time of either kind counts. */
struct map_rates {
	double latency[MAP_KINDS];	   /* of MAP_BRIDGED: for each forward */
	double bandwidth;		   /* of a node's port, in one direction */
	double forward;			   /* of a zipper, in one direction */
	bool bandwidth_told, forward_told; /* given by the user: they count with a network (map_fabric.h), too */
};
void map_predict_default_rates(struct map_rates *);

struct map_prediction {
	struct map_sum kind[MAP_KINDS];
	struct map_sum between[64][64]; /* from ranks in one cluster's job to ranks in another's: direct and bridged */
	uint64_t forwarded;		/* bytes x forwards */
	/* the zippers that bridged messages are spread over; none: all zippers forward, or no message can be bridged */
	struct map_zippers zippers;
	struct map_rail *rails; /* [nrails], all rails of the hostfile */
	uint32_t nrails;
	struct map_ports ports;	       /* with the bytes of nodes and rails */
	double messages_s, links_s;    /* time of the rank with most to do; time of the busiest port or rail */
	double links_mean;	       /* with a network: the links that a byte leaving its node crosses on average */
	char busiest[208];	       /* name of the busiest port, rail or link */
	struct map_crossing *crossing; /* [ncrossings], heaviest first; at most `list` of map_predict */
	size_t ncrossings;
	uint64_t crossings; /* number of all crossings */
};

/* Predicts a layout. list: the number of crossings to name. The result does not depend on threads. 0, -ENOMEM,
 * -ENETUNREACH (no zippers join the clusters), -E2BIG (too many zippers). */
int map_predict(struct map_prediction *, const struct zgraph *, const struct map_site *, const struct map_layout *,
	const struct map_rates *, size_t list, unsigned threads, struct zerr *);
void map_predict_free(struct map_prediction *);
/* Raises links_s and busiest to the values of the rails, if `rails`, and of the ports that count. ports NULL: all ports
 * count, with the bytes of rails. Otherwise ports[i] tells whether port i counts, without the bytes of rails, which
 * then go over links of a network. */
void map_predict_busiest(struct map_prediction *, const struct map_site *, const struct map_rates *, bool rails,
	const bool *ports);
static inline double map_predict_seconds(const struct map_prediction *p)
{
	return p->messages_s + p->links_s;
}

#endif
