/* SPDX-License-Identifier: BSD-3-Clause */
/* A communication graph for people: a report, and a picture of the matrix. */
#ifndef ZIP_MAPPER_SHOW_H
#define ZIP_MAPPER_SHOW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/graph/graph.h"
#include "common/base/err.h"

struct show_options {
	unsigned top;	 /* heaviest pairs */
	uint64_t cutoff; /* bytes: pairs whose mean message is shorter are left out of the second line of TDC */
	bool messages;	 /* order and colour by messages instead of bytes */
	unsigned bins;	 /* of the matrix, at most; more ranks are drawn as blocks of equal size */
	const char *title;
};

/* name: of the file. 0 or -ENOMEM. */
int show_report(FILE *, const char *name, const struct zgraph *, const struct show_options *, struct zerr *);
/* A line for each edge: from, to, bytes, messages. */
void show_edges(FILE *, const struct zgraph *);
/* BASE.svg and BASE.png, by BASE.gnuplot. 0 or a negative errno. */
int show_matrix(const char *base, const char *name, const struct zgraph *, const struct show_options *, struct zerr *);

#endif
