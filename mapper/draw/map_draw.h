/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of a map in the manner of lstopo: boxes in boxes for clusters, nodes and ranks, zipper nodes between the
 * clusters, and what goes over each link as width and colour. SVG. */
#ifndef ZIP_MAPPER_MAP_DRAW_H
#define ZIP_MAPPER_MAP_DRAW_H

#include <stdio.h>

#include "mapper/map/map_make.h"

/* Draws made[MAP_FROM_OLD] of what map_make_read has read. 0 or -ENOMEM. */
int map_draw(const struct map_make *, const char *title, FILE *, struct zerr *);

#endif
