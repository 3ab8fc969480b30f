/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paper's iterative allocation of bandwidth (section III) for all flows of a prediction together.
 *
 * In each iteration a message requests each path of its set with the weight
 *	bytes x (least remaining bandwidth on the path) / (sum of that over its paths)
 * and gets on each path this weight x (least availability of the path's links). The availability of a link is its
 * remaining bandwidth, divided by the weights that request it. Flows whose routing is not adaptive request their paths
 * with equal weights, so that other flows see them.
 *
 * A local routing (AL) looks at one link of each path in both formulas: the first router's own link, behind that of the
 * node if it has one. The other links of the path get the bytes nevertheless. They may be requested, and given, more
 * than they have; their own routers see then that nothing is left.
 *
 * In the end an adaptive message is split over all paths of all iterations, in proportion to what it got on them. The
 * total is known only then. Paths are not stored, but drawn again from the same random numbers. Two numbers for each
 * link and iteration are kept, from which the share of each path is found again.
 */
#ifndef ZIP_MAPPER_ADAPT_H
#define ZIP_MAPPER_ADAPT_H

#include "mapper/model/model.h"

struct adapt;

/* Makes the allocation. Fills in iterations, converged and turns of the result. 0 or -ENOMEM. */
int adapt_solve(struct adapt **, const struct net *, const struct model_flow *, unsigned nflows,
	const struct model_opts *, struct model_result *, struct zerr *);
void adapt_destroy(struct adapt *);

/* The operation spread() of adaptive routings. */
int adapt_spread(const struct routing_job *);
/* The number of items, over all flows spread so far, that were allocated nothing. */
uint64_t adapt_starved(const struct adapt *);

#endif
