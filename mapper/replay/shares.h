/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows that share links max-min fair. The rate of a flow divided by its weight is its level. To raise the level of one
 * flow, another flow that has no higher level would have to give something up. One link limits each flow: that link is
 * full, and no flow on it has a higher level (Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2). Rates are
 * found anew for those flows alone that a change can reach. One thread.
 */
#ifndef ZIP_MAPPER_SHARES_H
#define ZIP_MAPPER_SHARES_H

#include <stdint.h>

#define SHARES_NONE UINT32_MAX

struct shares;

/* capacity[links], bytes a second, above 0. 0 or -ENOMEM. */
int shares_create(struct shares **, const double *capacity, uint32_t links);
void shares_destroy(struct shares *);
/* Adds a flow over n >= 1 links; a link may occur several times. weight > 0. Its rate is 0 until shares_settle
 * (shares_settle.h). */
int shares_add(struct shares *, const uint32_t *link, uint32_t n, double weight, void *owner, uint32_t *flow);
void shares_remove(struct shares *, uint32_t flow);

/* Bytes a second; the link that limits the flow. */
double shares_rate(const struct shares *, uint32_t flow);
uint32_t shares_limit(const struct shares *, uint32_t flow);
/* An upper bound for the rate of a new flow, as long as links limit others as they do. */
double shares_ceiling(const struct shares *, uint32_t flow);

#endif
