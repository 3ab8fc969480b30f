/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the subcommands on endpoints, by table; see options.h. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/endpoint/ep_category.h"
#include "zipbench/base/args.h"
#include "zipbench/endpoints/options.h"

/* Chooses the categories in the list, and no others. */
static int set_categories(void *into, const char *list)
{
	struct bench_options *o = into;
	char words[256], *save = NULL;
	memset(o->category, 0, sizeof(o->category));
	if (strlen(list) >= sizeof(words))
		return -EINVAL;
	snprintf(words, sizeof(words), "%s", list);
	for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		int c = zep_category_parse(word);
		if (c < 0)
			return c;
		o->category[c] = true;
	}
	return 0;
}

static const struct row {
	unsigned takes; /* the bit of the option; 0: all subcommands take it */
	struct arg arg;
} rows[] = {
#define AT(field) offsetof(struct bench_options, field)
	{0, {"device", "NAME", ARG_TEXT, 0, 0, AT(device), NULL, "RDMA device; default: the first one"}},
	{0, {"port", "N", ARG_NUMBER, 1, 255, AT(port), NULL, "its port; default 1"}},
	{0, {"gid-index", "N", ARG_NUMBER, 0, 255, AT(gid_index), NULL, "entry of its GID table; default: found"}},
	{OPT_THREADS, {"threads", "N", ARG_NUMBER, 1, 256, AT(threads), NULL, "threads at most (in all processes)"}},
	{OPT_COUNT, {"count", "N", ARG_NUMBER, 1, 1u << 30, AT(count), NULL, "messages of each thread, or iterations"}},
	{OPT_SIZE, {"size", "N", ARG_NUMBER, 1, 1u << 20, AT(size), NULL, "bytes of a message, or elements of a side"}},
	{OPT_TILE, {"tile", "N", ARG_NUMBER, 1, 1u << 16, AT(tile), NULL,
			   "elements of a tile's side, or bytes of a message"}},
	{OPT_DEPTH, {"depth", "N", ARG_NUMBER, 1, 8192, AT(depth), NULL, "of a thread's share of a queue pair"}},
	{OPT_BATCH, {"postlist", "N", ARG_NUMBER, 1, 4096, AT(postlist), NULL, "messages in one post"}},
	{OPT_BATCH, {"unsignalled", "N", ARG_NUMBER, 1, 4096, AT(unsignalled), NULL, "messages for one completion"}},
	{0, {"rounds", "N", ARG_NUMBER, 1, 1000, AT(rounds), NULL,
		    "measures each point N times, in turns; prints medians"}},
	{OPT_SHARE,
		{"share", "LIST", ARG_TEXT, 0, 0, AT(share), NULL, "of threads,buf,ctx,pd,mr,cq,qp,batch,category"}},
	{OPT_CATEGORY, {"category", "LIST", ARG_CALL, 0, 0, 0, set_categories, "endpoint categories; default: all"}},
	{0, {"csv", "FILE", ARG_TEXT, 0, 0, AT(csv), NULL, "writes there; default: standard output"}},
	{0, {"plot", "BASE", ARG_TEXT, 0, 0, AT(plot), NULL, "draws BASE-*.svg and .png by gnuplot"}},
#undef AT
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

int options_parse(struct bench_options *o, unsigned takes, const char *usage, int argc, char **argv)
{
	struct arg taken[NROWS];
	size_t n = 0;
	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].takes == 0 || rows[i].takes & takes)
			taken[n++] = rows[i].arg;
	return args_parse(o, taken, n, usage, argc, argv, stderr);
}
