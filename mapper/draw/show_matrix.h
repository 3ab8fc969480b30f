/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of a communication graph as a picture, drawn by gnuplot. */
#ifndef ZIP_MAPPER_SHOW_MATRIX_H
#define ZIP_MAPPER_SHOW_MATRIX_H

#include "common/graph/graph.h"
#include "common/base/err.h"
#include "mapper/draw/show.h"

/* Draws BASE.svg and BASE.png, by way of BASE.gnuplot. name: of the graph's file. 0 or a negative errno. */
int show_matrix(const char *base, const char *name, const struct zgraph *, const struct show_options *, struct zerr *);

#endif
