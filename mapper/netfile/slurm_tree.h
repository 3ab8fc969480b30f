/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches, or blocks, as Slurm's topology files list them (topology.conf(5), topology.yaml(5)), and the network that
 * they stand for: a router for each switch, with the nodes of its line, and a link from each switch to each switch
 * above it. Blocks become a tree by their sizes: as many blocks, in their order, as make up each larger size are below
 * one more router, and one router is above all; a block that is left alone has none between.
 *
 * The files do not say what the links carry. All links of a switch to the switches above have together the bandwidth of
 * the nodes below, divided by the taper, and share it evenly.
 */
#ifndef ZIP_MAPPER_SLURM_TREE_H
#define ZIP_MAPPER_SLURM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/netfile/cabling.h"

#define SLURM_SIZES_MAX 32 /* of blocks */

struct slurm_switch {
	char *name;
	char *switches, *nodes; /* lists of those below, as written; NULL: none */
	double speed;		/* LinkSpeed, of the links to the switches below; 0: not said */
	unsigned line;
};

/* Zeroed, it is empty. */
struct slurm_tree {
	struct slurm_switch *list; /* [n], in the order of the file */
	uint32_t n;
	bool blocks;			/* the list has blocks, not switches */
	uint64_t size[SLURM_SIZES_MAX]; /* [sizes]: nodes in a block, then in each larger block */
	unsigned sizes, sizes_line;
};

/* The settings of the user for the network. */
struct slurm_wishes {
	const char *topology; /* in topology.yaml; NULL: the default one */
	const char *root;     /* this switch and those below; NULL: all */
	double bandwidth;     /* of a node, bytes a second */
	double taper;	      /* above 0 */
	double speed;	      /* bytes a second of LinkSpeed=1; 0: LinkSpeed does not count */
};

/* Adds a switch or block; copies the texts. 0, -EINVAL (a bad name, nothing below it, blocks among switches), -ENOMEM.
 * Errors do not name the line. */
int slurm_tree_add(struct slurm_tree *, bool block, const struct slurm_switch *, struct zerr *);
/* Adds a size of blocks. Each is the size before times a power of two. 0 or -EINVAL. */
int slurm_tree_size(struct slurm_tree *, uint64_t size, unsigned line, struct zerr *);
/* Adds the network to the cabling. path: for messages. 0, or a negative errno with "path:line: reason". */
int slurm_tree_lay(struct slurm_tree *, const char *path, const struct slurm_wishes *, struct cabling *, struct zerr *);
void slurm_tree_free(struct slurm_tree *);

#endif
