/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network model as a library: a network, what is sent over it and by which routing -> the load of every link.
 * All messages of a prediction are in flight at the same time. The result depends on the seed, never on the number of
 * threads. The library keeps no state of its own.
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
	unsigned direct_paths; /* at most so many direct ones among them for hybrid: 2 in the paper */
	unsigned exposure;     /* f: iterations over which bandwidth is exposed, 50 in the paper, >= 1 */
	unsigned iterations;   /* most iterations of the allocation, > exposure */
	unsigned patience;     /* after exposure: iterations without success after which a message gives up, >= 1 */
	double cutoff;	       /* fraction of the largest link below which nothing is left on a path */
	uint64_t work;	       /* random paths of one iteration above which messages take turns */
	uint64_t packet;       /* bytes, for routings that sample packets */
	void (*progress)(void *arg, const char *what, double done); /* 0..1; never NULL */
	void *progress_arg;
};

struct model_result {
	double *load;	     /* [net->links], bytes */
	double byte_hops;    /* bytes x hops; the sum of load[] has been checked against it */
	uint64_t bytes;	     /* that leave their point */
	double seconds;	     /* bytes / bandwidth of the link that needs longest: the phase takes at least so long */
	unsigned iterations; /* of the allocation; 0 if none was needed */
	bool converged;	     /* no message found anything more to take */
	unsigned turns;	     /* a message requests in one of so many iterations (1: in each), see model_opts.work */
	uint64_t starved;    /* items that were allocated nothing; they are split evenly */
};

/* The paper's values; threads = 1, seed = 1. */
void model_defaults(struct model_opts *);
/* 0, -ENOMEM, -ENOTSUP (the routing has no exact expectation on this network), -ERANGE (loads too large to be summed
 * exactly), -EPROTO (conservation violated: our bug). The result is to be freed if 0. */
int model_predict(const struct net *, const struct model_flow *, unsigned nflows, const struct model_opts *,
	struct model_result *, struct zerr *);
void model_result_free(struct model_result *);

#endif
