/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The local search, after Fiduccia and Mattheyses (1982), for any number of classes: it makes the move of least cost,
 * moves each rank at most once in a pass, and goes back to the best state of the pass. Between two moves a class may
 * have one rank more than slots: two moves can then be an exchange, and several a rotation. One thread.
 */
#ifndef ZIP_MAPPER_MAP_REFINE_H
#define ZIP_MAPPER_MAP_REFINE_H

#include "mapper/search/map_state.h"

/* Makes passes until one finds nothing better. The assignment must obey rules and slots. 0 or -ENOMEM. */
int map_refine(struct map_state *, struct zerr *);

#endif
