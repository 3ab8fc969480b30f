/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics over the loads of many links: six numbers and a histogram, for all links and for each kind. */
#ifndef ZIP_MAPPER_LINK_STATS_H
#define ZIP_MAPPER_LINK_STATS_H

#include "mapper/net/net.h"

#define LINK_STATS_BINS_MAX 1000
#define LINK_STATS_KINDS 11

struct link_stats_kind {
	const char *name; /* "all", "L1", "row", "column", "L2", "tree", "torus", "hyperx", "peer", "zipper", "node" */
	unsigned classes; /* bit (1 << enum net_class) */
};

extern const struct link_stats_kind link_stats_kinds[LINK_STATS_KINDS];

struct link_stats {
	/* number of links; 0: the network has none of this kind, and nothing else is set. Cables count singly */
	uint64_t count;
	/* bytes. Quartiles interpolate linearly between order statistics: value at (n - 1) x p, as in Hyndman and Fan's
	 * definition 7. */
	double min, q1, median, mean, q3, max, sum;
	unsigned bins;
	/* [bins]: the number of links with a load from i to i + 1 times max / bins; the last bin includes its end */
	uint64_t *bin;
};

/* Computes the statistics of one kind of links. 0 or -ENOMEM. */
int link_stats_make(struct link_stats *, const struct net *, const double *load, const struct link_stats_kind *,
	unsigned bins);
void link_stats_free(struct link_stats *);

#endif
