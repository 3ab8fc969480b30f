/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads Slurm's topology.conf or topology.yaml; the first character that counts tells which one a file is. */
#ifndef ZIP_MAPPER_SLURM_FILE_H
#define ZIP_MAPPER_SLURM_FILE_H

#include <stdio.h>

#include "common/base/err.h"
#include "mapper/netfile/cabling.h"
#include "mapper/netfile/slurm_tree.h"

/* Adds the network of a file, which must allow rewind(3). path: for messages. 0 or a negative errno with the reason and
 * its place. */
int slurm_file_read(struct cabling *, FILE *, const char *path, const struct slurm_wishes *, struct zerr *);

#endif
