/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paper's iterative allocation of bandwidth (section III) for all flows of a prediction together.
 *
 * In each iteration a message requests each path of its set with weight
 *	bytes x (least remaining bandwidth on the path) / (sum of that over its paths)
 * and gets on each path weight x (least availability of its links), the availability of a link being its remaining
 * bandwidth divided by the weights that request it. Flows whose routing is not adaptive request their paths with equal
 * weights: others see them. In the end an adaptive message is split over all paths of all iterations in proportion to
 * what it got on them. The total is known only then, so paths are not stored: they are drawn again from the same
 * random numbers, and two numbers a link and iteration are kept to find out again what each of them got.
 */
#ifndef ZIP_MAPPER_ADAPT_H
#define ZIP_MAPPER_ADAPT_H

#include "mapper/model/model.h"

struct adapt;

/* 0, -ENOMEM. Fills iterations, converged and turns of the result. */
int adapt_solve(struct adapt **, const struct net *, const struct model_flow *, unsigned nflows,
	const struct model_opts *, struct model_result *, struct zerr *);
void adapt_destroy(struct adapt *);

/* routing.spread() of the adaptive ones. */
int adapt_spread(const struct routing_job *);
/* Items of all flows that have been spread and had been allocated nothing. */
uint64_t adapt_starved(const struct adapt *);

#endif
