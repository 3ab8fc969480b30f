/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of "zipmap map". */
#ifndef ZIP_MAPPER_MAP_OPTIONS_H
#define ZIP_MAPPER_MAP_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/args/args.h"
#include "mapper/map/map_predict.h"
#include "mapper/site/map_rules.h"
#include "mapper/search/map_search.h"

struct map_options {
	const char *hosts;    /* NULL: as clusters says */
	const char *clusters; /* as zmpirun --clusters; NULL: preset, see map_make.c */
	const char *graph, *fabric, *output, *improve;
	const char *title;	      /* for zipmap draw */
	const char *busy, *busy_file; /* nodes that other jobs run on, see mapper/base/busy.h; or NULL */
	enum map_strategy strategy;
	const struct routing *routing;
	struct map_wishes wishes;
	struct map_rates rates;
	int64_t message_cost;		/* bytes; -1: by the rates; 0 for graphs without messages */
	int64_t phase;			/* -1: all */
	int reserve;			/* -1: preset */
	unsigned effort, threads, list; /* list: crossings that the map names */
	uint64_t seed;
	bool all_zippers; /* see map_site.h */
	uint32_t rails;
	bool quiet, verbose;
};

/* Rows that several commands have in their tables of options (common/args/args.h). */
#define MAP_OPTIONS_HOSTS                                                                                              \
	{                                                                                                              \
		.name = "hosts", .letter = 'f', .type = ZARGS_TEXT, .offset = offsetof(struct map_options, hosts),     \
		.value = "FILE", .help = "clusters, nodes and zippers, zipper.hosts(5)"                                \
	}
#define MAP_OPTIONS_PHASE                                                                                              \
	{                                                                                                              \
		.name = "phase", .type = ZARGS_I64, .offset = offsetof(struct map_options, phase), .min = 1,           \
		.max = INT32_MAX, .value = "N", .help = "of the graph; default: all"                                   \
	}
#define MAP_OPTIONS_ZIPPERS                                                                                            \
	{                                                                                                              \
		.name = "zippers", .type = ZARGS_CALL, .take = map_options_zippers, .value = "job|N|all",              \
		.help = "zippers that forward, as with zipmap map"                                                     \
	}

/* The values of options that are not given. */
void map_options_preset(struct map_options *);
/* 0; 1 if help or the version was printed; a negative errno with the reason. */
int map_options_parse(struct map_options *, int argc, char **argv, struct zerr *);
/* Takes the value of --zippers into a struct map_options. 0 or -EINVAL. */
int map_options_zippers(void *options, char *text, struct zerr *);
/* Are nodes named, by a hostfile or by --clusters, and not by both? 0 or -EINVAL. */
int map_options_check_hosts(const struct map_options *, struct zerr *);

#endif
