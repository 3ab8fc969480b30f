/* SPDX-License-Identifier: BSD-3-Clause */
/* What a map is written as, and what is told of it. */
#ifndef ZIP_MAPPER_MAP_REPORT_H
#define ZIP_MAPPER_MAP_REPORT_H

#include <stdio.h>

#include "mapper/map/map_make.h"

/* The table: the map beside the simple layouts, loads of rails, what remains to be bridged. */
void map_report_print(const struct map_make *, FILE *);
/* zipper.map(5), with the prediction in its "#ZIP" lines. The file is replaced when all of it is there. 0 or a negative
 * errno. */
int map_report_write(const struct map_make *, const char *path, struct zerr *);

#endif
