/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line of "zipmap model". */
#ifndef ZIP_MAPPER_MODEL_OPTIONS_H
#define ZIP_MAPPER_MODEL_OPTIONS_H

#include "mapper/model/model.h"
#include "mapper/model/job_placement.h"
#include "mapper/base/spec.h"

#define OPTIONS_LIST_MAX 32

struct model_options {
	const char *network;
	char *jobs; /* all jobs, joined by "; "; or the name of the workload */
	struct spec_list job_specs;
	const struct job_placement *placements[OPTIONS_LIST_MAX];
	const struct routing *routings[OPTIONS_LIST_MAX];
	unsigned nplacements, nroutings;
	const char *map;	      /* a file, instead of placements */
	const char *hosts;	      /* the hostfile of the map, or NULL */
	const char *busy, *busy_file; /* nodes that other jobs run on, see mapper/base/busy.h; or NULL */
	const char *csv, *json, *links, *plot;
	const char *plot_title, *plot_links;
	unsigned bins;
	bool quiet;
	struct model_opts model;
};

/* 0: go on; 1: help or the version was printed; a negative errno with the reason. */
int model_options_parse(struct model_options *, int argc, char **argv, struct zerr *);
void model_options_free(struct model_options *);
/* Print the names that an option takes, for the help. */
void model_options_list_networks(void);
void model_options_list_placements(void);
void model_options_list_routings(void);
/* Before a command line is read: the number of direct paths is not given yet. */
void model_options_leave_direct(struct model_opts *);
/* Behind it: a number that was not given becomes the default, or that of all paths if these are fewer. One that was
 * given and is larger than that is an error. */
int model_options_check_direct(struct model_opts *, struct zerr *);

#endif
