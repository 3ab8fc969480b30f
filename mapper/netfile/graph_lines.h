/* SPDX-License-Identifier: BSD-3-Clause */
/* Graph files: statements "router:NAME node:N" and "link:NAME to:NAME cables:N bandwidth:B", in any order. */
#ifndef ZIP_MAPPER_GRAPH_LINES_H
#define ZIP_MAPPER_GRAPH_LINES_H

#include "common/base/err.h"
#include "mapper/netfile/cabling.h"

/* Adds the routers and links of a file. bandwidth: bytes a second of links that do not say theirs. 0 or a negative
 * errno with "path:line: reason". */
int graph_lines_read(struct cabling *, const char *path, uint64_t bandwidth, struct zerr *);

#endif
