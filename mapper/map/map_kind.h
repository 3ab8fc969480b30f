/* SPDX-License-Identifier: BSD-3-Clause */
/* How a message between two ranks of a layout travels. */
#ifndef ZIP_MAPPER_MAP_KIND_H
#define ZIP_MAPPER_MAP_KIND_H

#include "mapper/map/map_layout.h"
#include "mapper/site/map_site.h"

enum map_kind {
	MAP_INSIDE,  /* native, within a node */
	MAP_NATIVE,  /* native, between nodes of a cluster's job */
	MAP_DIRECT,  /* between two jobs, but the nodes have a fabric in common */
	MAP_BRIDGED, /* through zipperd, once or more */
	MAP_KINDS
};
extern const char *const map_kind_names[MAP_KINDS];

/* clusters: those that have ranks (map_job_clusters). Only they have parts in the job, and only their networks can be
 * used for direct links, by the rules of libzip and zipperd (direct.c): a rank on any zipper node, whether it forwards
 * for the job or not, listens on the node's ports; of two that do, the one with the lower number, and the other one
 * takes the first of its ports that it reaches. */
enum map_kind map_kind_find(const struct map_site *, const struct map_layout *, uint64_t clusters, uint32_t u,
	uint32_t v);
/* The networks on which a message of that kind from u to v leaves the node of u and reaches that of v. */
void map_kind_ends(const struct map_site *, const struct map_layout *, uint64_t clusters, enum map_kind, uint32_t u,
	uint32_t v, uint32_t *from, uint32_t *to);

#endif
