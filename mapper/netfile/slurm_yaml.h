/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads Slurm's topology.yaml, by libyaml: a list of topologies, of which each is a tree, blocks, or flat
 * (topology.yaml(5) of Slurm 25.05). */
#ifndef ZIP_MAPPER_SLURM_YAML_H
#define ZIP_MAPPER_SLURM_YAML_H

#include <stdio.h>

#include "common/base/err.h"
#include "mapper/netfile/slurm_tree.h"

/* Adds the switches or blocks of one topology: the one of that name; or, with NULL, the first one with
 * "cluster_default: true", or the only one. 0; a negative errno with "path:line: reason"; -ENOTSUP where zipmap was
 * built without libyaml. */
int slurm_yaml_read(struct slurm_tree *, FILE *, const char *path, const char *topology, struct zerr *);

#endif
