/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of a map in the manner of lstopo: nested boxes for clusters, nodes and ranks, and zipper nodes between the
 * clusters. The width and colour of a link show its traffic. SVG. */
#ifndef ZIP_MAPPER_MAP_DRAW_H
#define ZIP_MAPPER_MAP_DRAW_H

#include <stdio.h>

#include "mapper/map/map_make.h"

/* Draws made[MAP_FROM_OLD] after map_make_read. 0 or -ENOMEM. */
int map_draw(const struct map_make *, const char *title, FILE *, struct zerr *);

#endif
