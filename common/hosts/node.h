/* SPDX-License-Identifier: BSD-3-Clause */
/* "#ZIP node" lines of the zipper hostfile: facts about hosts, for zipmap. Private to hostfile.c, which owns what is
 * made here. Start-up only; one thread. */
#ifndef ZIP_COMMON_HOSTS_NODE_H
#define ZIP_COMMON_HOSTS_NODE_H

#include "common/hosts/hostfile.h"

/* Reads the words behind "#ZIP node": HOST ... NAME[=VALUE] ... Appends to file->nodes. Returns 0, -EINVAL, -EEXIST or
 * -ENOMEM. */
int znode_parse(struct zhostfile *, char **rest, int line, struct zerr *);
/* Sets zhost.node, when all hosts are known. Returns 0, -ENOMEM, or with "path:line: reason" -ENOENT (a name that is no
 * host) or -EEXIST (two lines for a host). */
int znode_apply(struct zhostfile *, struct zerr *);
void znode_free(struct znode *);

#endif
