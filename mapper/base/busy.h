/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes that other jobs keep busy, whole or in part: a list of hosts as Slurm writes it, and files of them. One thread.
 */
#ifndef ZIP_MAPPER_BUSY_H
#define ZIP_MAPPER_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/base/names.h"

#define BUSY_ALL UINT32_MAX /* all cores of the node */

/* Zeroed, it is empty. */
struct busy {
	struct names names;
	uint32_t *cores; /* [names.n]: busy ones, or BUSY_ALL */
};

/* Adds the nodes of a list, "node[01-04,7],login", with all their cores. 0, -EINVAL with the reason, -ENOMEM. */
int busy_add(struct busy *, const char *list, struct zerr *);
/* Adds the nodes of a file: a list of nodes in a line, and, if not all cores of each are busy, the number of those that
 * are; or four numbers, allocated/idle/other/total, of which all but the idle ones are busy, as "sinfo -N -o '%N %C'"
 * prints. '#' begins a comment. A node may stand there again with the same number. 0 or a negative errno with
 * "path:line: reason". */
int busy_read(struct busy *, const char *path, struct zerr *);
/* The busy cores of a node by its name, or by its name up to the first dot: 0 to BUSY_ALL. found, which may be NULL:
 * becomes whether it was named at all. */
uint32_t busy_find(const struct busy *, const char *name, bool *found);
void busy_free(struct busy *);

#endif
