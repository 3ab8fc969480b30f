/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "#ZIP cluster" lines of the zipper hostfile. Private to hostfile.c, which owns what is made here. Start-up only; one
 * thread.
 */
#ifndef ZIP_COMMON_HOSTS_CLUSTER_H
#define ZIP_COMMON_HOSTS_CLUSTER_H

#include "common/hosts/hostfile.h"

/* Reads the words behind "#ZIP cluster": NAME [OPTION=VALUE ...]. Appends to file->clusters. Returns 0, or -EINVAL,
 * -EEXIST, -E2BIG, -ENOMEM with the reason. */
int zcluster_parse(struct zhostfile *, char **rest, int line, struct zerr *);
/* Adds a cluster without options. Returns as zcluster_parse. */
int zcluster_add(struct zhostfile *, const char *name, int line, struct zerr *);
void zcluster_free(struct zcluster *);

#endif
