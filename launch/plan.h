/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks run on which cluster. */
#ifndef ZIP_LAUNCH_PLAN_H
#define ZIP_LAUNCH_PLAN_H

#include "control.h"
#include "hostfile.h"
#include "options.h"

struct zplan_part {
	char name[ZCTL_NAME_MAX + 1];
	const struct zcluster *cluster; /* NULL: this machine (--clusters) */
	int nranks;
	int first; /* vrank of its rank 0 */
};

struct zplan {
	struct zplan_part parts[ZCTL_PARTS_MAX]; /* only those with ranks */
	int nparts, nranks;
	char names[ZCTL_PARTS_MAX * 8]; /* of the parts, comma-separated */
};

/*
 * Ranks fill the clusters as Hydra fills the hosts of one hostfile: slot by slot in the order of the file, and again
 * from the first when all slots are taken. The vranks of a part are consecutive, parts in the order of the file.
 * hosts is NULL with --clusters. 0 or -EINVAL with the reason.
 */
int zplan_make(struct zplan *, const struct zoptions *, const struct zhostfile *hosts, struct zerr *);

#endif
