/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives as messages in order. The algorithms and their messages are those of the model of zipmap.graph(5); here
 * each rank also receives, and waits as that algorithm has to: trees from the leaves or from the root, rings and
 * dissemination step by step, direct exchanges all at once.
 */
#ifndef ZIP_MAPPER_PROGRAM_COLL_H
#define ZIP_MAPPER_PROGRAM_COLL_H

#include "common/graph/graph.h"
#include "mapper/program/program.h"

struct program_coll {
	enum zgraph_kind kind;
	const uint32_t *member; /* [n], ranks; NULL: all ranks of the program */
	uint32_t n;
	uint32_t comm; /* a number of the communicator */
	uint32_t rank; /* in the communicator */
	uint32_t root; /* the same; where the kind has one */
	/* Of one message of bcast, reduce, allreduce, scan and exscan; of one rank's block in all other kinds. */
	uint64_t bytes;
	uint32_t line;
};

/* Appends one rank's part. 0; -EINVAL: the kind is none of the model, or root or rank is not in the communicator;
 * -ENOMEM. */
int program_coll(struct program *, const struct program_coll *, struct zerr *);

#endif
