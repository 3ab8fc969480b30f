/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of all things in the picture of a map: clusters in two stacks, left and right, and zipper nodes in a
 * column between them. In a cluster nodes stand in rows. A box with very many nodes is drawn as tiles of several. A
 * place is a node or a zipper, as in map_links.h. Lengths are pixels. */
#ifndef ZIP_MAPPER_MAP_BOXES_H
#define ZIP_MAPPER_MAP_BOXES_H

#include "mapper/draw/map_links.h"

#define MAP_BOX_RANK 18.0  /* side of a rank's square */
#define MAP_BOX_GAP 10.0   /* between boxes */
#define MAP_BOX_HEAD 16.0  /* height of a box's title */
#define MAP_BOX_LINE 14.0  /* width of the busiest link */
#define MAP_BOX_RANKS 64u  /* ranks of a node that are drawn one by one */
#define MAP_BOX_TITLE 320  /* bytes of a title */
#define MAP_BOX_LETTER 9.0 /* height of a letter in a tile */

struct map_tile {	   /* a place, or several places */
	uint32_t first, n; /* range in map_box.place */
	struct map_link link;
	double x, y;
};

struct map_box { /* a cluster, or the column of zipper nodes (cluster = MAP_NONE) */
	uint32_t cluster;
	uint32_t *place, nplaces;
	struct map_tile *tile;
	uint32_t ntiles, columns, per_row; /* tiles in a row; ranks of a tile in a row */
	double x, y, w, h, tile_w, tile_h;
};

struct map_boxes {
	const struct map_make *m;
	enum map_candidate which;
	const struct map_links *links;
	uint32_t *ranks, *start, *member; /* by place: number of ranks, and where they begin in member[] */
	struct map_box box[65];		  /* the clusters, then the zipper nodes */
	uint32_t nboxes;
	double width, height;
};

/* Lays out this map, which is there. title: stands above it. 0 or -ENOMEM; free it in any case. */
int map_boxes_make(struct map_boxes *, const struct map_make *, enum map_candidate, const struct map_links *,
	const char *title);
void map_boxes_free(struct map_boxes *);

/* The x of the bar of a cluster's network. */
double map_boxes_bar(const struct map_box *);
/* Write titles into a buffer of MAP_BOX_TITLE bytes, which is returned. */
const char *map_boxes_title(const struct map_boxes *, const struct map_box *, char *buf);
const char *map_boxes_tile_title(const struct map_boxes *, const struct map_box *, const struct map_tile *, char *buf);
/* Bits of the clusters on whose networks the zipper nodes of a tile have ports. */
uint64_t map_boxes_tile_ports(const struct map_boxes *, const struct map_box *, const struct map_tile *);

#endif
