/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that both pictures of a communication graph have: the report, and the matrix. */
#ifndef ZIP_MAPPER_SHOW_H
#define ZIP_MAPPER_SHOW_H

#include <stdbool.h>
#include <stdint.h>

struct show_options {
	unsigned top;	 /* heaviest pairs */
	uint64_t cutoff; /* bytes: pairs whose mean message is shorter are left out of the second line of TDC */
	bool messages;	 /* order and colour by messages instead of bytes */
	unsigned bins;	 /* of the matrix, at most; more ranks are drawn as blocks of equal size */
	const char *title;
};

#endif
