/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the subcommands on endpoints, by table; see zipbench.h. */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "zipbench.h"

enum kind { NUMBER, TEXT, CATEGORIES };

static const struct row {
	const char *name, *value;
	unsigned takes; /* 0: all do */
	enum kind kind;
	unsigned min, max;
	size_t offset;
	const char *help;
} rows[] = {
#define AT(field) offsetof(struct bench_options, field)
	{"device", "NAME", 0, TEXT, 0, 0, AT(device), "RDMA device; default: the first one"},
	{"port", "N", 0, NUMBER, 1, 255, AT(port), "its port; default 1"},
	{"gid-index", "N", 0, NUMBER, 0, 255, AT(gid_index), "entry of its GID table; default: found"},
	{"threads", "N", OPT_THREADS, NUMBER, 1, 256, AT(threads), "threads at most (in all processes)"},
	{"count", "N", OPT_COUNT, NUMBER, 1, 1u << 30, AT(count), "messages of each thread, or iterations"},
	{"size", "N", OPT_SIZE, NUMBER, 1, 1u << 20, AT(size), "bytes of a message, or elements of a side"},
	{"tile", "N", OPT_TILE, NUMBER, 1, 1u << 16, AT(tile), "elements of a tile's side, or bytes of a message"},
	{"depth", "N", OPT_DEPTH, NUMBER, 1, 8192, AT(depth), "of a thread's share of a queue pair"},
	{"postlist", "N", OPT_BATCH, NUMBER, 1, 4096, AT(postlist), "messages in one post"},
	{"unsignalled", "N", OPT_BATCH, NUMBER, 1, 4096, AT(unsignalled), "messages for one completion"},
	{"rounds", "N", 0, NUMBER, 1, 1000, AT(rounds), "measures each so often, in turns; the medians are printed"},
	{"share", "LIST", OPT_SHARE, TEXT, 0, 0, AT(share), "of threads,buf,ctx,pd,mr,cq,qp,batch,category"},
	{"category", "LIST", OPT_CATEGORY, CATEGORIES, 0, 0, AT(category), "endpoint categories; default: all"},
	{"csv", "FILE", 0, TEXT, 0, 0, AT(csv), "writes there; default: standard output"},
	{"plot", "BASE", 0, TEXT, 0, 0, AT(plot), "draws BASE-*.svg and .png by gnuplot"},
#undef AT
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

static bool taken(const struct row *r, unsigned takes)
{
	return r->takes == 0 || r->takes & takes;
}

static void help(const char *usage, unsigned takes)
{
	printf("usage: zipbench %s\n\n", usage);
	for (size_t i = 0; i < NROWS; i++)
		if (taken(&rows[i], takes))
			printf("  --%-11s %-5s %s\n", rows[i].name, rows[i].value, rows[i].help);
}

static int set_number(struct bench_options *o, const struct row *r, const char *text)
{
	char *end;
	errno = 0;
	unsigned long v = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || v < r->min || v > r->max)
		return -EINVAL;
	*(unsigned *)((char *)o + r->offset) = (unsigned)v;
	return 0;
}

static int set_categories(struct bench_options *o, char *list)
{
	char *save = NULL;
	memset(o->category, 0, sizeof(o->category));
	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		int c = zep_parse_category(word);
		if (c < 0)
			return c;
		o->category[c] = true;
	}
	return 0;
}

static int set(struct bench_options *o, const struct row *r, char *text)
{
	if (r->kind == NUMBER)
		return set_number(o, r, text);
	if (r->kind == CATEGORIES)
		return set_categories(o, text);
	*(char **)((char *)o + r->offset) = text;
	return 0;
}

static int usage_error(const char *command, const char *what, const char *why)
{
	fprintf(stderr, "zipbench %s: %s: %s; try --help\n", command, what, why);
	return BENCH_EXIT_USAGE;
}

int bench_options_parse(struct bench_options *o, unsigned takes, const char *usage, int argc, char **argv)
{
	struct option longs[NROWS + 2] = {{NULL, 0, NULL, 0}};
	int n = 0, index, c;
	for (size_t i = 0; i < NROWS; i++)
		if (taken(&rows[i], takes))
			longs[n++] = (struct option){rows[i].name, required_argument, NULL, 256 + (int)i};
	longs[n] = (struct option){"help", no_argument, NULL, 'h'};
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", longs, &index)) != -1) {
		if (c == 'h') {
			help(usage, takes);
			return 1;
		}
		if (c < 256)
			return usage_error(argv[0], argv[optind - 1], c == ':' ? "needs a value" : "is no option");
		if (set(o, &rows[c - 256], optarg) < 0)
			return usage_error(argv[0], optarg, rows[c - 256].help);
	}
	if (optind < argc)
		return usage_error(argv[0], argv[optind], "unexpected argument");
	return 0;
}

int bench_fail(const char *command, const struct zerr *err)
{
	fprintf(stderr, "zipbench %s: %s\n", command, err->text);
	return EXIT_FAILURE;
}

double bench_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
