/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap plot": draws what "zipmap model --csv" wrote. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/args/args.h"
#include "mapper/draw/plot_draw.h"
#include "mapper/command/commands.h"

struct arguments {
	const char *kinds, *title;
	bool histogram;
};

static const struct zargs_row rows[] = {
	{.name = "histogram",
		.type = ZARGS_FLAG,
		.offset = offsetof(struct arguments, histogram),
		.help = "draw histograms of the first kind of links, not box plots"},
	{.name = "links",
		.type = ZARGS_TEXT,
		.offset = offsetof(struct arguments, kinds),
		.value = "LIST",
		.help = "kinds of links, as all,L1,L2: a panel for each; default all"},
	{.name = "title",
		.type = ZARGS_TEXT,
		.offset = offsetof(struct arguments, title),
		.value = "TEXT",
		.help = "above the plot"},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipmap plot",
	.usage = "zipmap plot [OPTION ...] BASE FILE.csv ...\n"
		 "Draws BASE.svg and BASE.png from what zipmap model --csv wrote.\n",
	.operands = "BASE FILE.csv ...",
	.least = 2,
	.most = ZARGS_MANY,
	.rows = rows,
};

int plot_command(int argc, char **argv)
{
	struct arguments a = {.kinds = "all", .title = ""};
	struct plot plot = {0};
	struct zerr err = {""};
	int first, status, rc = 0;

	if (!zargs_read(&args, &a, argc, argv, &first, &status))
		return status;
	for (int i = first + 1; i < argc && !rc; i++)
		rc = plot_read(&plot, argv[i], &err);
	if (!rc)
		rc = plot_draw(&plot, a.histogram ? PLOT_HISTOGRAM : PLOT_BOXES, a.kinds, a.title, argv[first], &err);
	if (rc)
		fprintf(stderr, "zipmap plot: %s\n", err.text);
	plot_free(&plot);
	return rc ? 1 : 0;
}
