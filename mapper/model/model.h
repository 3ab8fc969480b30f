/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network model as a library. From a network, and flows with their traffic and routing, it predicts the load of
 * every link. All messages of a prediction are in flight at the same time. The result depends on the seed, never on the
 * number of threads. The library keeps no state of its own.
 *
 *	topology_create("dragonfly group:8 ...", &net, &err);
 *	src[i] = net->ops->point(net, node of the sender); dst[i] likewise; messages within a point cost nothing
 *	traffic_build_list(&t, net->points, n, src, dst, bytes, &err);
 *	flow = (struct model_flow){ routing_table_find("AD"), &t };
 *	model_predict(net, &flow, 1, &opts, &result, &err);
 */
#ifndef ZIP_MAPPER_MODEL_H
#define ZIP_MAPPER_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/net/net.h"
#include "mapper/model/routing.h"
#include "mapper/traffic/traffic.h"
#include "mapper/model/routing_table.h"

/* One job: all its messages are routed the same way. */
struct model_flow {
	const struct routing *routing;
	const struct traffic *traffic;
};

struct model_opts {
	unsigned threads; /* >= 1 */
	uint64_t seed;
	unsigned paths;	       /* random paths of a message and iteration: 4 in the paper, 1..ROUTING_PATHS_MAX */
	unsigned direct_paths; /* most direct paths among them, for hybrid routing: 2 in the paper */
	unsigned exposure;     /* f: iterations over which bandwidth is exposed, 50 in the paper, >= 1 */
	unsigned iterations;   /* most iterations of the allocation; > exposure */
	/* iterations without success after which a message gives up, once all bandwidth is exposed; >= 1 */
	unsigned patience;
	double cutoff;	 /* fraction of the largest link's bandwidth below which a path has nothing left */
	uint64_t work;	 /* random paths of one iteration; beyond, fewer messages draw, or they take turns */
	uint64_t packet; /* bytes, for routings that sample packets */
	void (*progress)(void *arg, const char *what, double done); /* done: 0..1; the function is never NULL */
	void *progress_arg;
};

struct model_result {
	double *load;	  /* [net->links], bytes */
	double byte_hops; /* bytes x hops; the sum of load[] was checked against it */
	uint64_t bytes;	  /* that leave their point */
	double seconds; /* bytes / bandwidth of the link that needs longest: a lower limit for the time of the phase */
	unsigned iterations; /* of the allocation; 0 if none was needed */
	bool converged;	     /* at the end no message found anything more to take */
	unsigned draws;	     /* messages between two points that draw paths of their own; 0: all of them */
	unsigned turns;	     /* messages request in one of so many iterations (1: in each), see model_opts.work */
	uint64_t starved;    /* items, or pieces of them, that were allocated nothing; they are split evenly */
};

/* Sets the paper's values; threads = 1, seed = 1. */
void model_defaults(struct model_opts *);
/* Predicts the loads. 0, -ENOMEM, -ENOTSUP (the routing has no exact expectation on this network), -ERANGE (loads too
 * large to be summed exactly), -EPROTO (conservation violated: a bug of ours). On 0 the result is to be freed. */
int model_predict(const struct net *, const struct model_flow *, unsigned nflows, const struct model_opts *,
	struct model_result *, struct zerr *);
void model_result_free(struct model_result *);

#endif
