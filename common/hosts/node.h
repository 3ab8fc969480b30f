/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "#ZIP node" lines of the zipper hostfile: what is known about hosts, for zipmap. Private to hostfile.c, which owns
 * what is made here. Start-up only; one thread.
 */
#ifndef ZIP_COMMON_HOSTS_NODE_H
#define ZIP_COMMON_HOSTS_NODE_H

#include "common/hosts/hostfile.h"

#define ZNODE_RANGE_MAX (1u << 16) /* hosts of one NAME[FIRST-LAST] */

/* The words behind "#ZIP node": HOST ... NAME[=VALUE] ... Appends to file->nodes. 0, -EINVAL, -EEXIST, -ENOMEM. */
int znode_parse(struct zhostfile *, char **rest, int line, struct zerr *);
/* When all hosts are known: sets zhost.node. -ENOENT (a name that is no host), -EEXIST (two lines for a host), both
 * with "path:line: reason", -ENOMEM. */
int znode_apply(struct zhostfile *, struct zerr *);
void znode_free(struct znode *);

#endif
