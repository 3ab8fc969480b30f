/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap show": what is in a communication graph. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/args.h"
#include "common/graph/graph_load.h"
#include "mapper/traffic/graph.h"
#include "mapper/traffic/select.h"
#include "mapper/draw/show_matrix.h"
#include "mapper/draw/show_report.h"
#include "mapper/command/commands.h"

#define BINS_MAX 4096 /* pixels of a picture */

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

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct arguments, member)
static const struct zargs_row rows[] = {
	{.name = "bins", FIELD(UNSIGNED, show.bins), .min = 1, .max = BINS_MAX},
	{.name = "class", FIELD(CALL, select), .take = select_classes},
	{.name = "cutoff", FIELD(U64, show.cutoff), .max = UINT64_MAX},
	{.name = "edges", FIELD(FLAG, edges)},
	{.name = "matrix", FIELD(TEXT, matrix)},
	{.name = "messages", FIELD(FLAG, show.messages)},
	{.name = "phase", FIELD(CALL, select), .take = select_phase},
	{.name = "title", FIELD(TEXT, show.title)},
	{.name = "top", FIELD(UNSIGNED, show.top), .max = 1000000},
	{.name = NULL},
};

int show_command(int argc, char **argv)
{
	struct arguments a = {.show = {.top = 10, .cutoff = 2048, .bins = 256}, .select = {.phase = -1}};
	struct zerr err = {""};
	struct zgraph *g = NULL;
	int first, rc = zargs_parse(rows, &a, argc, argv, &first, &err);

	if (rc > 0)
		return usage(stdout, 0);
	if (rc) {
		fprintf(stderr, "zipmap show: %s\n", err.text);
		return 2;
	}
	if (argc - first != 1)
		return usage(stderr, 2);
	a.select.keep_self = a.edges;
	rc = graph_load(&g, argv[first], &a.select, &err);
	if (!rc && a.edges)
		show_report_edges(stdout, g);
	else if (!rc)
		rc = show_report(stdout, argv[first], g, &a.show, &err);
	if (!rc && a.matrix)
		rc = show_matrix(a.matrix, argv[first], g, &a.show, &err);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = zerr_set(&err, -EIO, "cannot write the report");
	if (rc)
		fprintf(stderr, "zipmap show: %s\n", err.text);
	zgraph_destroy(g);
	return rc ? 1 : 0;
}
