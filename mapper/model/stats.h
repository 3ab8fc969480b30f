/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loads of many links are told by: six numbers and a histogram, for all links and for each kind. */
#ifndef ZIP_MAPPER_STATS_H
#define ZIP_MAPPER_STATS_H

#include "mapper/net/net.h"

#define STATS_BINS_MAX 1000
#define STATS_KINDS 9

struct stats_kind {
	const char *name; /* "all", "L1", "row", "column", "L2", "tree", "torus", "zipper", "node" */
	unsigned classes; /* bit (1 << enum net_class) */
};

extern const struct stats_kind stats_kinds[STATS_KINDS];

struct stats {
	uint64_t count; /* links; 0: this network has none of the kind, and nothing else is set. Cables count singly. */
	double min, q1, median, mean, q3, max, sum; /* bytes. Quartiles interpolate linearly between order statistics:
						     * value at (n - 1) x p, as in Hyndman and Fan's definition 7. */
	unsigned bins;
	uint64_t *bin; /* [bins]: links from i to i + 1 (the last: including its end) times max / bins */
};

/* 0 or -ENOMEM. */
int stats_make(struct stats *, const struct net *, const double *load, const struct stats_kind *, unsigned bins);
void stats_free(struct stats *);

#endif
