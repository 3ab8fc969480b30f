/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap show": what is in a communication graph. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
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

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct arguments, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "phase", FIELD(CALL, select), .take = select_phase, HELP("N|all", "this phase alone; default: all")},
	{.name = "class",
		FIELD(CALL, select),
		.take = select_classes,
		HELP("LIST", "these classes alone, of p2p,collective,put,get")},
	{.name = "messages", FIELD(FLAG, show.messages), .help = "the heaviest pairs are those with most messages"},
	{.name = "top", FIELD(UNSIGNED, show.top), .max = 1000000, HELP("N", "number of heaviest pairs; default 10")},
	{.name = "cutoff",
		FIELD(U64, show.cutoff),
		.max = UINT64_MAX,
		HELP("BYTES", "the second line of TDC leaves out pairs whose mean message is shorter;\ndefault 2048")},
	{.name = "clusters",
		FIELD(TEXT, show.clusters),
		HELP("N|N,N,...", "clusters in which the ranks might run, for what would cross; default 2")},
	{.name = "edges", FIELD(FLAG, edges), .help = "print only a line for each pair"},
	{.name = "matrix", FIELD(TEXT, matrix), HELP("BASE", "draw the matrix: BASE.svg and BASE.png")},
	{.name = "bins",
		FIELD(UNSIGNED, show.bins),
		.min = 1,
		.max = BINS_MAX,
		HELP("N", "largest number of rows of the matrix; default 256")},
	{.name = "title", FIELD(TEXT, show.title), HELP("TEXT", "above the picture; default: the name of the program")},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipmap show",
	.usage = "zipmap show [OPTION ...] GRAPH\n"
		 "Prints totals, heaviest pairs, degrees and calls; or every pair; or draws the matrix as well.\n",
	.operands = "GRAPH",
	.least = 1,
	.most = 1,
	.rows = rows,
};

int show_command(int argc, char **argv)
{
	struct arguments a = {.show = {.top = 10, .cutoff = 2048, .bins = 256}, .select = {.phase = -1}};
	struct zerr err = {""};
	struct zgraph *g = NULL;
	int first, status, rc;

	if (!zargs_read(&args, &a, argc, argv, &first, &status))
		return status;
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
