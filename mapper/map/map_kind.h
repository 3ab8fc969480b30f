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

/* The kind of a message. clusters: the clusters that have ranks (map_job_clusters). Only these have parts in the job,
 * and only their networks serve for direct connections, by the rules of libzip and zipperd. A rank on any zipper node
 * listens on the node's ports, whether the zipper forwards for the job or not. Of two such ranks the one with the lower
 * number listens; the other one takes the first of these ports that it reaches. */
enum map_kind map_kind_find(const struct map_site *, const struct map_layout *, uint64_t clusters, uint32_t u,
	uint32_t v);
/* The networks on which a message of that kind leaves the node of u, and reaches the node of v. */
void map_kind_ends(const struct map_site *, const struct map_layout *, uint64_t clusters, enum map_kind, uint32_t u,
	uint32_t v, uint32_t *from, uint32_t *to);

#endif
