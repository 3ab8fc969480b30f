/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of a communication graph: senders by receivers, in cells of one rank or of several. */
#ifndef ZIP_MAPPER_MATRIX_H
#define ZIP_MAPPER_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "common/graph/graph.h"

struct matrix {
	unsigned n;	    /* cells in each direction */
	uint32_t block;	    /* ranks of a cell */
	double *cell;	    /* [n * n], by sender and receiver */
	double least, most; /* of cells that are not empty; most is 0 if all are */
};

/* Sums bytes, or messages, in at most `bins` cells each way. 0 or -ENOMEM. */
int matrix_make(struct matrix *, const struct zgraph *, unsigned bins, bool messages);
void matrix_free(struct matrix *);

#endif
