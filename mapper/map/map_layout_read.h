/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a map that exists already. */
#ifndef ZIP_MAPPER_MAP_LAYOUT_READ_H
#define ZIP_MAPPER_MAP_LAYOUT_READ_H

#include "mapper/map/map_layout.h"

/* Reads a map, zipper.map(5), of these hosts. Refuses what zmap_resolve (common/hosts) refuses. 0, -ENOMEM, or a
 * negative errno with path and line. */
int map_layout_read(struct map_layout *, const char *path, const struct zhostfile *, bool oversubscribe, struct zerr *);

#endif
