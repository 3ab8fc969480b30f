/* SPDX-License-Identifier: BSD-3-Clause */
/* Static mapping by Scotch as the start of a search, where the build has Scotch. */
#ifndef ZIP_MAPPER_MAP_SCOTCH_H
#define ZIP_MAPPER_MAP_SCOTCH_H

#include "mapper/search/map_problem.h"

/* Maps the graph on the graph of the classes; pinned ranks are fixed. Fills class[n], which need not obey slots and
 * rules. round: another round gives another result. 0, -ENOMEM, -EIO (Scotch failed), -ENOTSUP (built without Scotch).
 */
int map_scotch_start(const struct map_problem *, unsigned round, uint8_t *class, struct zerr *);

#endif
