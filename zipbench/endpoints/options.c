/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the subcommands on endpoints, by table; see options.h. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/endpoint/ep_category.h"
#include "common/args/args.h"
#include "zipbench/endpoints/options.h"

/* Chooses the categories in the list, and no others. */
static int set_categories(void *into, char *list, struct zerr *err)
{
	struct bench_options *o = into;
	char words[256], *save = NULL;
	memset(o->category, 0, sizeof(o->category));
	snprintf(words, sizeof(words), "%s", list);
	for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		int c = zep_category_parse(word);
		if (c < 0)
			return zerr_set(err, -EINVAL, "--category: \"%.40s\" is no endpoint category", word);
		o->category[c] = true;
	}
	return 0;
}

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct bench_options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct option_row {
	unsigned takes; /* the bit of the option; 0: all subcommands take it */
	struct zargs_row row;
} rows[] = {
	{0, {.name = "device", FIELD(TEXT, device), HELP("NAME", "RDMA device; default: the first one")}},
	{0, {.name = "port", FIELD(UNSIGNED, port), .min = 1, .max = 255, HELP("N", "its port; default 1")}},
	{0, {.name = "gid-index",
		    FIELD(INT, gid_index),
		    .max = 255,
		    HELP("N", "entry of its GID table; default: found")}},
	{OPT_THREADS, {.name = "threads",
			      FIELD(UNSIGNED, threads),
			      .min = 1,
			      .max = 256,
			      HELP("N", "threads at most (in all processes)")}},
	{OPT_COUNT, {.name = "count",
			    FIELD(UNSIGNED, count),
			    .min = 1,
			    .max = 1u << 30,
			    HELP("N", "messages of each thread, or iterations")}},
	{OPT_SIZE, {.name = "size",
			   FIELD(UNSIGNED, size),
			   .min = 1,
			   .max = 1u << 20,
			   HELP("N", "bytes of a message, or elements of a side")}},
	{OPT_TILE, {.name = "tile",
			   FIELD(UNSIGNED, tile),
			   .min = 1,
			   .max = 1u << 16,
			   HELP("N", "elements of a tile's side, or bytes of a message")}},
	{OPT_DEPTH, {.name = "depth",
			    FIELD(UNSIGNED, depth),
			    .min = 1,
			    .max = 8192,
			    HELP("N", "of a thread's share of a queue pair")}},
	{OPT_BATCH, {.name = "postlist",
			    FIELD(UNSIGNED, postlist),
			    .min = 1,
			    .max = 4096,
			    HELP("N", "messages in one post")}},
	{OPT_BATCH, {.name = "unsignalled",
			    FIELD(UNSIGNED, unsignalled),
			    .min = 1,
			    .max = 4096,
			    HELP("N", "messages for one completion")}},
	{0, {.name = "rounds",
		    FIELD(UNSIGNED, rounds),
		    .min = 1,
		    .max = 1000,
		    HELP("N", "measures each point N times, in turns; prints medians")}},
	{OPT_SHARE,
		{.name = "share", FIELD(TEXT, share), HELP("LIST", "of threads,buf,ctx,pd,mr,cq,qp,batch,category")}},
	{OPT_CATEGORY, {.name = "category",
			       .type = ZARGS_CALL,
			       .take = set_categories,
			       HELP("LIST", "endpoint categories; default: all")}},
	{0, {.name = "csv", FIELD(TEXT, csv), HELP("FILE", "writes there; default: standard output")}},
	{0, {.name = "plot", FIELD(TEXT, plot), HELP("BASE", "draws BASE-*.svg and .png by gnuplot")}},
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

bool options_read(struct bench_options *o, const struct options_use *use, int argc, char **argv, int *status)
{
	struct zargs_row taken[NROWS + 1];
	const struct zargs args = {.program = use->program, .usage = use->usage, .rows = taken};
	size_t n = 0;
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].takes == 0 || rows[i].takes & use->takes)
			taken[n++] = rows[i].row;
	taken[n] = (struct zargs_row){.name = NULL};
	return zargs_read(&args, o, argc, argv, NULL, status);
}
