/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers and fabrics of a hostfile as a graph, with distances. hostways.h is built on it. Start-up only; any
 * thread. */
#ifndef ZIP_COMMON_HOSTS_HOSTGRAPH_H
#define ZIP_COMMON_HOSTS_HOSTGRAPH_H

#include "common/control/ctl.h"
#include "common/hosts/hostfile.h"

/* Fabrics are numbered: first the clusters, in their order, then the transit fabrics. */
struct zhostgraph {
	const struct zhostfile *hosts;
	char (*parts)[ZCTL_NAME_MAX + 1];
	int nparts;
	const char **fabric; /* [nfabrics], texts of the hostfile */
	int nfabrics, nports;
	int *first, *on;     /* [nzippers + 1] where its ports begin, [nports] the fabric of each */
	int *part;	     /* [nparts] the part's fabric */
	bool *ends;	     /* [nfabrics] one of the parts is on it */
	bool *zipper, *lead; /* [nzippers], [nfabrics]: useful for the job */
	int *far, *near;     /* [nfabrics], [nzippers]: hops from there to the zipper that was measured; -1: no way */
};

/* Makes the graph. Returns 0, -ENOENT with text (a part is no cluster) or -ENOMEM. To be freed with zhostgraph_free in
 * any case. */
int zhostgraph_make(struct zhostgraph *, const struct zhostfile *, char (*parts)[ZCTL_NAME_MAX + 1], int nparts,
	struct zerr *);
void zhostgraph_free(struct zhostgraph *);
/* Finds the zippers and fabrics between the parts, for zipper and lead. These may be more than those on the shortest
 * ways. left_out: [nzippers], or NULL. Returns 0, or -ENETUNREACH with text: some parts have no way to each other. */
int zhostgraph_find_useful(struct zhostgraph *, const bool *left_out, struct zerr *);
/* Fills far and near with the hops to this zipper, over useful zippers and fabrics. */
void zhostgraph_measure(struct zhostgraph *, int zipper);

/* One zipper of a way: it connects for us, and reaches the next one by the fabric `to`. */
struct zhoststep {
	int zipper, to;
};
/* Finds all first steps of the shortest ways from this fabric to the zipper that was measured, in the order of the
 * file. Returns their number; *step: the step with this number, if there is one. */
int zhostgraph_find_step(const struct zhostgraph *, int fabric, int number, struct zhoststep *step);

#endif
