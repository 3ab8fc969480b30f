/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the page of "zipmap report", in the order of the page. Private to page.c and the files of the parts. */
#ifndef ZIP_MAPPER_PAGE_PART_H
#define ZIP_MAPPER_PAGE_PART_H

#include <stdio.h>

#include "mapper/map/map_make.h"

#define PAGE_WIDTH 1000.0 /* pixels, of the pictures */
#define PAGE_INK "#222222"
#define PAGE_PALE "#777777"

/* The time of the run, and the time in MPI by kind of call and by rank. Nothing without times. */
void page_time(FILE *, const struct zgraph *);
/* The matrix: bytes from each rank to each other one. 0 or -ENOMEM. */
int page_matrix(FILE *, const struct zgraph *);
/* The best map beside pairs and block: bytes by their way, and the predicted time. */
void page_maps(FILE *, const struct map_make *);
/* Traffic between clusters with the best map: of each pair of clusters, and of the heaviest pairs of ranks. */
void page_crossings(FILE *, const struct map_make *);

#endif
