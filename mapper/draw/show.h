/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of both forms of a communication graph for people: the report, and the matrix. */
#ifndef ZIP_MAPPER_SHOW_H
#define ZIP_MAPPER_SHOW_H

#include <stdbool.h>
#include <stdint.h>

struct show_options {
	unsigned top;	 /* heaviest pairs */
	uint64_t cutoff; /* bytes: pairs whose mean message is shorter are not counted in the second line of TDC */
	bool messages;	 /* order and colour by messages instead of bytes */
	unsigned
		bins; /* most cells of the matrix in each direction; beyond, a cell is a block of ranks of equal size */
	const char *title;
	const char *clusters; /* in which the ranks might run, as zmpirun's --clusters; NULL: two */
};

#endif
