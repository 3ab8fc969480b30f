/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads Slurm's topology.conf: lines of KEY=VALUE, with SwitchName, Switches, Nodes and LinkSpeed, or BlockName, Nodes
 * and BlockSizes. Case does not matter in keys; '#' begins a comment; a backslash at the end of a line goes on with the
 * next one; a value with blanks stands in double quotes (topology.conf(5) of Slurm). */
#ifndef ZIP_MAPPER_SLURM_CONF_H
#define ZIP_MAPPER_SLURM_CONF_H

#include <stdio.h>

#include "common/base/err.h"
#include "mapper/netfile/slurm_tree.h"

/* Adds the switches or blocks of a file. 0 or a negative errno with "path:line: reason". */
int slurm_conf_read(struct slurm_tree *, FILE *, const char *path, struct zerr *);

#endif
