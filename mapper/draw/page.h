/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of "zipmap report": one HTML file with all that a recorded graph and a map of it say. The pictures are in it
 * as SVG, and it needs nothing from elsewhere. */
#ifndef ZIP_MAPPER_PAGE_H
#define ZIP_MAPPER_PAGE_H

#include <stdio.h>

#include "mapper/map/map_make.h"

/* Writes the page after map_make_run. 0 or -ENOMEM. */
int page_write(FILE *, const struct map_make *, struct zerr *);

#endif
