/* SPDX-License-Identifier: BSD-3-Clause */
/* How the zippers and fabrics of a hostfile hang together, and how far they are from each other: what hostways.h is
 * made of. Start-up only; any thread. */
#ifndef ZIP_COMMON_HOSTS_HOSTGRAPH_H
#define ZIP_COMMON_HOSTS_HOSTGRAPH_H

#include "common/control/ctl.h"
#include "common/hosts/hostfile.h"

/* Fabrics are numbered: first the clusters, in their order, then those between zippers. */
struct zhostgraph {
	const struct zhostfile *hosts;
	char (*parts)[ZCTL_NAME_MAX + 1];
	int nparts;
	const char **fabric; /* [nfabrics], the hostfile's */
	int nfabrics, nports;
	int *first, *on;     /* [nzippers + 1] where its ports begin, [nports] the fabric of each */
	int *part;	     /* [nparts] its fabric */
	bool *ends;	     /* [nfabrics] one of the parts is there */
	bool *zipper, *lead; /* [nzippers], [nfabrics]: of use for the job */
	int *far, *near;     /* [nfabrics], [nzippers]: hops from there to the zipper that was measured; -1: no way */
};

/* 0, -ENOENT with text: a part is no cluster, or -ENOMEM. Free with zhostgraph_free in any case. */
int zhostgraph_make(struct zhostgraph *, const struct zhostfile *, char (*parts)[ZCTL_NAME_MAX + 1], int nparts,
	struct zerr *);
void zhostgraph_free(struct zhostgraph *);
/* What lies between parts, which may be more than lies on the shortest ways, in zipper and lead. 0, or -ENETUNREACH
 * with text: some parts have no way to each other. left_out: [nzippers], or NULL. */
int zhostgraph_find_useful(struct zhostgraph *, const bool *left_out, struct zerr *);
/* Fills far and near with the hops to this zipper, over what is of use. */
void zhostgraph_measure(struct zhostgraph *, int zipper);

/* One zipper of a way: who connects for us, and by which fabric it reaches the next one. */
struct zhoststep {
	int zipper, to;
};
/* All first steps of the shortest ways from this fabric, which is far, to the zipper that was measured, in the order of
 * the file. Returns how many there are; *step: the one with this number, if there is one. */
int zhostgraph_find_step(const struct zhostgraph *, int fabric, int number, struct zhoststep *step);

#endif
