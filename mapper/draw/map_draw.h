/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of a map in the manner of lstopo: nested boxes for clusters, nodes and ranks, and zipper nodes between the
 * clusters. The width and colour of a link show its traffic. SVG. */
#ifndef ZIP_MAPPER_MAP_DRAW_H
#define ZIP_MAPPER_MAP_DRAW_H

#include <stdio.h>

#include "mapper/map/map_make.h"

/* The colour of each kind of traffic. */
extern const char *const map_draw_colours[MAP_KINDS];

/* Draws made[which], which has a layout. 0 or -ENOMEM. */
int map_draw(const struct map_make *, enum map_candidate which, const char *title, FILE *, struct zerr *);

#endif
