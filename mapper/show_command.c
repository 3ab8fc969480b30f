/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap show": what is in a communication graph. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "select.h"
#include "show.h"
#include "zipmap.h"

#define BINS_MAX 4096 /* a picture of that many pixels */

static const struct option options[] = {
	{"bins", required_argument, NULL, 'b'},
	{"class", required_argument, NULL, 'c'},
	{"cutoff", required_argument, NULL, 'u'},
	{"edges", no_argument, NULL, 'e'},
	{"help", no_argument, NULL, 'h'},
	{"matrix", required_argument, NULL, 'm'},
	{"messages", no_argument, NULL, 'M'},
	{"phase", required_argument, NULL, 'p'},
	{"title", required_argument, NULL, 'T'},
	{"top", required_argument, NULL, 't'},
	{NULL, 0, NULL, 0},
};

struct arguments {
	struct show_options show;
	struct zgraph_select select;
	const char *matrix;
	bool edges;
};

static int usage(FILE *f, int code)
{
	fputs("usage: zipmap show [--phase N] [--class LIST] [--messages] [--top N] [--cutoff BYTES] GRAPH\n"
	      "       zipmap show --edges [--phase N] [--class LIST] GRAPH\n"
	      "       zipmap show --matrix BASE [--bins N] [--title TEXT] [--messages] [--phase N] [--class LIST] "
	      "GRAPH\n"
	      "Prints totals, heaviest pairs, degrees and calls; or every pair; or draws BASE.svg and BASE.png as "
	      "well.\n",
		f);
	return code;
}

static int number(const char *text, uint64_t min, uint64_t max, uint64_t *out, struct zerr *err)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || *out < min || *out > max)
		return zerr_set(err, -EINVAL, "\"%s\" is not a number from %llu to %llu", text, (unsigned long long)min,
			(unsigned long long)max);
	return 0;
}

static int argument(struct arguments *a, int opt, struct zerr *err)
{
	uint64_t n = 0;
	int rc = 0;

	switch (opt) {
	case 'b':
		rc = number(optarg, 1, BINS_MAX, &n, err);
		a->show.bins = (unsigned)n;
		break;
	case 'c':
		rc = select_classes(&a->select, optarg, err);
		break;
	case 'u':
		rc = number(optarg, 0, UINT64_MAX, &a->show.cutoff, err);
		break;
	case 'e':
		a->edges = true;
		break;
	case 'm':
		a->matrix = optarg;
		break;
	case 'M':
		a->show.messages = true;
		break;
	case 'p':
		rc = select_phase(&a->select, optarg, err);
		break;
	case 'T':
		a->show.title = optarg;
		break;
	default: /* 't' */
		rc = number(optarg, 0, 1000000, &n, err);
		a->show.top = (unsigned)n;
	}
	return rc;
}

int show_main(int argc, char **argv)
{
	struct arguments a = {.show = {.top = 10, .cutoff = 2048, .bins = 256}, .select = {.phase = -1}};
	struct zerr err = {""};
	struct zgraph *g = NULL;
	int opt, rc = 0;

	opterr = 0;
	while (!rc && (opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (opt == 'h')
			return usage(stdout, 0);
		if (opt == ':' || opt == '?') {
			fprintf(stderr, "zipmap show: %s %s\n", argv[optind - 1],
				opt == ':' ? "needs a value" : "is no option");
			return 2;
		}
		rc = argument(&a, opt, &err);
	}
	if (rc) {
		fprintf(stderr, "zipmap show: %s\n", err.text);
		return 2;
	}
	if (argc - optind != 1)
		return usage(stderr, 2);
	a.select.keep_self = a.edges;
	rc = graph_load(&g, argv[optind], &a.select, &err);
	if (!rc && a.edges)
		show_edges(stdout, g);
	else if (!rc)
		rc = show_report(stdout, argv[optind], g, &a.show, &err);
	if (!rc && a.matrix)
		rc = show_matrix(a.matrix, argv[optind], g, &a.show, &err);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = zerr_set(&err, -EIO, "cannot write the report");
	if (rc)
		fprintf(stderr, "zipmap show: %s\n", err.text);
	zgraph_destroy(g);
	return rc ? 1 : 0;
}
