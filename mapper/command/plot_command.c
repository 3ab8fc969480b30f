/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap plot": draws what "zipmap model --csv" wrote. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/config/args.h"
#include "mapper/draw/plot_draw.h"
#include "mapper/command/commands.h"

struct arguments {
	const char *kinds, *title;
	bool histogram;
};

static const struct zargs_row rows[] = {
	{.name = "links", .type = ZARGS_TEXT, .offset = offsetof(struct arguments, kinds)},
	{.name = "title", .type = ZARGS_TEXT, .offset = offsetof(struct arguments, title)},
	{.name = "histogram", .type = ZARGS_FLAG, .offset = offsetof(struct arguments, histogram)},
	{.name = NULL},
};

static int usage(FILE *f, int code)
{
	fputs("usage: zipmap plot [--histogram] [--links all,L1,L2] [--title TEXT] BASE FILE.csv ...\n"
	      "Draws BASE.svg and BASE.png: box plots, a panel for each kind of links; or histograms of the first "
	      "kind.\n",
		f);
	return code;
}

int plot_command(int argc, char **argv)
{
	struct arguments a = {.kinds = "all", .title = ""};
	struct plot plot = {0};
	struct zerr err = {""};
	int first, rc = zargs_parse(rows, &a, argc, argv, &first, &err);

	if (rc > 0)
		return usage(stdout, 0);
	if (rc) {
		fprintf(stderr, "zipmap plot: %s\n", err.text);
		return 2;
	}
	if (argc - first < 2)
		return usage(stderr, 2);
	for (int i = first + 1; i < argc && !rc; i++)
		rc = plot_read(&plot, argv[i], &err);
	if (!rc)
		rc = plot_draw(&plot, a.histogram ? PLOT_HISTOGRAM : PLOT_BOXES, a.kinds, a.title, argv[first], &err);
	if (rc)
		fprintf(stderr, "zipmap plot: %s\n", err.text);
	plot_free(&plot);
	return rc ? 1 : 0;
}
