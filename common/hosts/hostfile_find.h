/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to a zipper hostfile that was read (hostfile.h). Any thread. */
#ifndef ZIP_COMMON_HOSTS_HOSTFILE_FIND_H
#define ZIP_COMMON_HOSTS_HOSTFILE_FIND_H

#include <stdint.h>

#include "common/hosts/hostfile.h"

/* The index of the cluster with a host of this name, or -ENOENT. The names are equal, or they are equal up to the first
 * dot where one of the two has no dot and only one cluster has such a host. */
int zhostfile_find_host(const struct zhostfile *, const char *host);
/* The index of the cluster with this name, or -ENOENT. */
int zhostfile_find_cluster(const struct zhostfile *, const char *name);
/* The index of the first zipper line with this host, or -ENOENT. Case does not matter. */
int zhostfile_find_zipper(const struct zhostfile *, const char *host);
/* The clusters on which a zipper has ports: bit c for clusters[c]. */
uint64_t zhostfile_find_clusters(const struct zhostfile *, int zipper);
/* The zipper's port on this fabric, or NULL. */
const struct zport *zhostfile_find_port(const struct zhostfile *, int zipper, const char *fabric);
/* The first zipper with an index of at least `from` that has a port on each of these clusters (bit c: clusters[c]), or
 * -ENOENT. Each such zipper is a rail of a job with ranks in these clusters. */
int zhostfile_find_joining(const struct zhostfile *, uint64_t clusters, int from);

#endif
