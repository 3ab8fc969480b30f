/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a replay: times of the ends, after the LogGP model, and the network. */
#ifndef ZIP_MAPPER_REPLAY_OPTS_H
#define ZIP_MAPPER_REPLAY_OPTS_H

#include <stdint.h>

#include "mapper/model/model.h"

struct replay_opts {
	const struct routing *routing;
	struct model_opts model; /* seed, and the numbers of paths that the routing draws */
	double latency;		 /* s, of a message between nodes (L) */
	double hop;		 /* s, more for each link */
	double overhead;	 /* s, of a rank for sending, and for receiving, a message (o) */
	double per_byte;	 /* s, more for each byte */
	uint64_t eager;		 /* bytes; longer messages wait for the receiver */
	double node_bandwidth;	 /* bytes/s out of a node, and into it (1/G); 0: no limit of its own */
	double local_bandwidth;	 /* bytes/s of a message inside a node; 0: no limit */
	double compute;		 /* factor of the times of computing */
	double tolerance;	 /* the share of its time by which a message may end too early or late, see replay.h */
};

void replay_defaults(struct replay_opts *);

#endif
