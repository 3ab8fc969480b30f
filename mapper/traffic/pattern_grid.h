/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Patterns on a grid of ranks (Table I, section VI), the last dimension running fastest: stencils with the nearest
 * neighbours in two or four dimensions; and many-to-many, where the ranks that differ in the second dimension only
 * exchange with each other. In a dimension of one rank a stencil sends nothing; in one of two ranks it sends two
 * messages to the other rank.
 */
#ifndef ZIP_MAPPER_PATTERN_GRID_H
#define ZIP_MAPPER_PATTERN_GRID_H

#include "mapper/traffic/pattern.h"

extern const struct pattern_ops pattern_grid_2d, pattern_grid_4d, pattern_grid_m2m;

#endif
