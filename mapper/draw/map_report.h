/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints and writes a map. */
#ifndef ZIP_MAPPER_MAP_REPORT_H
#define ZIP_MAPPER_MAP_REPORT_H

#include <stdio.h>

#include "mapper/map/map_make.h"

/* Prints the table: the map beside the simple layouts, loads of rails, and the remaining bridged traffic. */
void map_report_print(const struct map_make *, FILE *);
/* Writes zipper.map(5), with the prediction in its "#ZIP" lines. The file is replaced when all of it is written. 0 or a
 * negative errno. */
int map_report_write(const struct map_make *, const char *path, struct zerr *);

#endif
