/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap convert": graphs between zipmap.graph(5), METIS and Matrix Market, and from traces. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/args/args.h"
#include "common/graph/graph_load.h"
#include "mapper/traffic/graph.h"
#include "mapper/traffic/graph_write.h"
#include "mapper/traffic/select.h"
#include "mapper/command/commands.h"
#include "mapper/trace/otf2_trace.h"

struct arguments {
	struct zgraph_select select;
	const char *to;
};

#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "to",
		.type = ZARGS_TEXT,
		.offset = offsetof(struct arguments, to),
		HELP("FORMAT",
			"zipmap, metis or market; default: by FILE's name: .metis, .mtx,\nelse zipmap.graph(5)")},
	{.name = "phase",
		.type = ZARGS_CALL,
		.offset = offsetof(struct arguments, select),
		.take = select_phase,
		HELP("N|all", "this phase alone; default: all")},
	{.name = "class",
		.type = ZARGS_CALL,
		.offset = offsetof(struct arguments, select),
		.take = select_classes,
		HELP("LIST", "these classes alone, of p2p,collective,put,get")},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipmap convert",
	.usage = "zipmap convert [OPTION ...] GRAPH FILE\n"
		 "Writes a graph of any format, or the graph of an OTF2 trace (NAME.otf2), as FILE.\n",
	.operands = "GRAPH FILE",
	.least = 2,
	.most = 2,
	.rows = rows,
};

static const struct format {
	const char *name, *suffix;
	int (*write)(const struct zgraph *, const char *path, struct zerr *);
} formats[] = {
	{"metis", ".metis", graph_write_metis}, {"market", ".mtx", graph_write_market},
	{"zipmap", "", zgraph_save}, /* last, because any name ends with its suffix */
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

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

/* Converts a trace. As a zipmap.graph(5) it keeps its classes, calls and times. */
static int trace_convert(const char *from, const struct format *format, const char *to,
	const struct zgraph_select *select, struct zerr *err)
{
	struct zgraph *g = NULL;
	struct trace trace;
	int rc;

	if (select->phase >= 0 && select->phase != 1)
		return zerr_set(err, -EINVAL, "%s: has phase 1 only, as every trace", from);
	rc = otf2_trace_read(&trace, from, err);
	if (!rc && format->write == zgraph_save)
		rc = trace_save(&trace, to, select, err);
	else if (!rc && !(rc = trace_build(&trace, select, &g, err)))
		rc = format->write(g, to, err);
	zgraph_destroy(g);
	trace_free(&trace);
	return rc;
}

int convert_command(int argc, char **argv)
{
	struct arguments a = {.select = {.phase = -1, .keep_self = true}};
	const struct format *format;
	struct zgraph *g = NULL;
	struct zerr err = {""};
	int first, status, rc;

	if (!zargs_read(&args, &a, argc, argv, &first, &status))
		return status;
	format = format_find(a.to, argv[first + 1]);
	if (!format) {
		fprintf(stderr, "zipmap convert: \"%s\" is no format: zipmap, metis, market\n", a.to);
		return 2;
	}
	if (otf2_trace_is(argv[first]))
		rc = trace_convert(argv[first], format, argv[first + 1], &a.select, &err);
	else if (!(rc = graph_load(&g, argv[first], &a.select, &err)))
		rc = format->write(g, argv[first + 1], &err);
	if (rc)
		fprintf(stderr, "zipmap convert: %s\n", err.text);
	zgraph_destroy(g);
	return rc ? 1 : 0;
}
