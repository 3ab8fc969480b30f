/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap convert": graphs between zipmap.graph(5), METIS and Matrix Market. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "graph.h"
#include "graph_text.h"
#include "select.h"
#include "zipmap.h"

static const struct option options[] = {
	{"to", required_argument, NULL, 't'},
	{"phase", required_argument, NULL, 'p'},
	{"class", required_argument, NULL, 'c'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static const struct format {
	const char *name, *suffix;
	int (*write)(const struct zgraph *, const char *path, struct zerr *);
} formats[] = {
	{"metis", ".metis", graph_metis_write}, {"market", ".mtx", graph_market_write},
	{"zipmap", "", zgraph_save}, /* last: any name ends so */
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static int usage(FILE *f, int code)
{
	fputs("usage: zipmap convert [--to zipmap|metis|market] [--phase N] [--class LIST] GRAPH FILE\n"
	      "Writes a graph of any format as FILE; without --to by its name: .metis, .mtx, else zipmap.graph(5).\n",
		f);
	return code;
}

static const struct format *format_find(const char *name, const char *path)
{
	for (size_t i = 0; i < FORMATS; i++) {
		size_t len = strlen(path), tail = strlen(formats[i].suffix);

		if (name ? !strcmp(name, formats[i].name)
			 : len >= tail && !strcmp(path + len - tail, formats[i].suffix))
			return &formats[i];
	}
	return NULL;
}

int convert_main(int argc, char **argv)
{
	struct zgraph_select select = {.phase = -1, .keep_self = true};
	const char *to = NULL;
	const struct format *format;
	struct zgraph *g = NULL;
	struct zerr err = {""};
	int opt, rc = 0;

	opterr = 0;
	while (!rc && (opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		switch (opt) {
		case 't':
			to = optarg;
			break;
		case 'p':
			rc = select_phase(&select, optarg, &err);
			break;
		case 'c':
			rc = select_classes(&select, optarg, &err);
			break;
		case 'h':
			return usage(stdout, 0);
		default:
			fprintf(stderr, "zipmap convert: %s %s\n", argv[optind - 1],
				opt == ':' ? "needs a value" : "is no option");
			return 2;
		}
	}
	if (rc) {
		fprintf(stderr, "zipmap convert: %s\n", err.text);
		return 2;
	}
	if (argc - optind != 2)
		return usage(stderr, 2);
	format = format_find(to, argv[optind + 1]);
	if (!format) {
		fprintf(stderr, "zipmap convert: \"%s\" is no format: zipmap, metis, market\n", to);
		return 2;
	}
	rc = graph_load(&g, argv[optind], &select, &err);
	if (!rc)
		rc = format->write(g, argv[optind + 1], &err);
	if (rc)
		fprintf(stderr, "zipmap convert: %s\n", err.text);
	zgraph_destroy(g);
	return rc ? 1 : 0;
}
