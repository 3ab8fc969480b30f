/* SPDX-License-Identifier: BSD-3-Clause */
/* A map from begin to end: files read, demands checked, ranks placed, the result predicted. What "zipmap map" and
 * "zipmap draw" work with. */
#ifndef ZIP_MAPPER_MAP_MAKE_H
#define ZIP_MAPPER_MAP_MAKE_H

#include "common/hosts/hostfile.h"
#include "mapper/map/map_fabric.h"
#include "mapper/map/map_options.h"

enum map_candidate { MAP_FROM_PAIRS, MAP_FROM_BLOCK, MAP_FROM_OLD, MAP_RESULT, MAP_CANDIDATES };

struct map_made {
	struct map_layout layout; /* n == 0: there is none */
	struct map_prediction prediction;
	struct zerr why; /* there is none: the reason */
};

struct map_make {
	const struct map_options *o;
	struct zhostfile hosts;
	struct zgraph *traffic;
	struct map_graph graph;
	struct map_rules rules;
	struct map_site site;
	struct map_problem problem;
	struct map_fabric fabric; /* net NULL: none given */
	struct map_made made[MAP_CANDIDATES];
	bool improved;	       /* with an old map: the result is another one */
	uint32_t fabric_moved; /* nodes whose ranks changed places by the network model */
};

/* All of it. 0 or a negative errno with one line; free it in any case. */
int map_make_run(struct map_make *, const struct map_options *, struct zerr *);
/* Only reads files and demands, and the old map, if one is named, with its prediction: for drawing. */
int map_make_read(struct map_make *, const struct map_options *, struct zerr *);
void map_make_free(struct map_make *);

#endif
