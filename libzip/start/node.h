/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The zipperd of this node (`node` in libzipper(7)): a zipperd that serves the ranks of one job on their host. They
 * come to it over shared memory, and it goes on to the zippers of the job, as over a hop (ctl.h). Its connections there
 * are trunks, which all ranks of the node share. So the number of connections that a zipper has grows with the nodes
 * and not with the ranks. The first rank of the node starts it. It ends with the last of their connections. In the
 * thread of MPI_Init.
 */
#ifndef ZIP_LIBZIP_NODE_H
#define ZIP_LIBZIP_NODE_H

#include "common/hosts/hops.h"
#include "common/session/session.h"

struct zenv;

/* Leads the ways of this rank to the n zippers over the node's zipperd, where that is wanted and of use, and starts it
 * if it is not there. params: of the sessions that are to be opened. entries: as in JOIN. 0, or a negative errno with
 * text. */
int znode_enter(const struct zenv *, const struct zsession_params *, const struct zctl_join *, struct zhops *ways,
	const char (*entries)[ZCTL_ENTRIES_MAX], int n, struct zerr *);
/* This rank does not need the node's zipperd any more. */
void znode_leave(void);

#endif
