/* SPDX-License-Identifier: BSD-3-Clause */
/* The clusters of --clusters, for which there is no hostfile: their sizes, and hosts for them. Start-up only; one
 * thread. */
#ifndef ZIP_COMMON_HOSTS_INVENT_H
#define ZIP_COMMON_HOSTS_INVENT_H

#include "common/base/err.h"
#include "common/control/ctl.h"
#include "common/hosts/hostfile.h"

/*
 * Reads the value of --clusters: a number of clusters, which share the ranks equally, the first ones one rank more; or
 * the ranks of each cluster, as "2,4" or "2+4". share[ZCTL_PARTS_MAX] gets the ranks of each of the *n clusters.
 * wanted: the ranks of the job, as `source` says ("-n says"); 0: not known, which means one for each cluster, or the
 * sum. Returns 0, or -EINVAL with text: the value is wrong, or its sum is not `wanted`.
 */
int zinvent_shares(const char *spec, int wanted, const char *source, int share[ZCTL_PARTS_MAX], int *n, struct zerr *);
/*
 * Makes a hostfile: clusters c1, c2 and so on, each with one host of its own name, and a zipper on the node "zipper"
 * between them. slots[n]: of the host of each cluster. zipper: slots of the zipper node, which is listed in c1; 0: it
 * takes no ranks. Returns 0 or a negative errno with text; the caller frees the hostfile.
 */
int zinvent_hosts(struct zhostfile *, int n, const int slots[], int zipper, struct zerr *);

#endif
