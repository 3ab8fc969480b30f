/* SPDX-License-Identifier: BSD-3-Clause */
/* A map from begin to end: files are read, demands checked, ranks placed, the result predicted. "zipmap map" and
 * "zipmap draw" work with it. */
#ifndef ZIP_MAPPER_MAP_MAKE_H
#define ZIP_MAPPER_MAP_MAKE_H

#include "common/hosts/hostfile.h"
#include "mapper/map/map_fabric.h"
#include "mapper/map/map_options.h"
#include "mapper/site/map_busy.h"

enum map_candidate { MAP_FROM_PAIRS, MAP_FROM_BLOCK, MAP_FROM_OLD, MAP_RESULT, MAP_CANDIDATES };

struct map_made {
	struct map_layout layout; /* n is 0 if there is none */
	struct map_prediction prediction;
	struct zerr why; /* the reason, if there is no layout */
};

struct map_make {
	const struct map_options *o;
	struct zhostfile hosts;
	struct zgraph *traffic;
	struct map_graph graph;
	struct map_rules rules;
	struct map_site site;
	struct map_busy busy;
	struct map_problem problem;
	struct map_fabric fabric; /* net is NULL where no network is given */
	struct map_made made[MAP_CANDIDATES];
	bool improved;	       /* with an old map: the result differs from it */
	uint32_t fabric_moved; /* nodes whose ranks changed places by the network model */
};

/* Makes a map. 0 or a negative errno with one line; free it in any case. */
int map_make_run(struct map_make *, const struct map_options *, struct zerr *);
/* Only reads the files and demands, for drawing. If an old map is named, it is read and predicted. */
int map_make_read(struct map_make *, const struct map_options *, struct zerr *);
void map_make_free(struct map_make *);

#endif
