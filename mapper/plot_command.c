/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap plot": draws what "zipmap model --csv" wrote. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "plot.h"
#include "zipmap.h"

static const struct option options[] = {
	{"links", required_argument, NULL, 'l'},
	{"title", required_argument, NULL, 't'},
	{"histogram", no_argument, NULL, 'H'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int usage(FILE *f, int code)
{
	fputs("usage: zipmap plot [--histogram] [--links all,L1,L2] [--title TEXT] BASE FILE.csv ...\n"
	      "Draws BASE.svg and BASE.png: box plots, a panel for each kind of links; or histograms of the first "
	      "kind.\n",
		f);
	return code;
}

int plot_main(int argc, char **argv)
{
	enum plot_form form = PLOT_BOXES;
	const char *kinds = "all", *title = "";
	struct plot plot = {0};
	struct zerr err = {""};
	int opt, rc = 0;

	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		switch (opt) {
		case 'l':
			kinds = optarg;
			break;
		case 't':
			title = optarg;
			break;
		case 'H':
			form = PLOT_HISTOGRAM;
			break;
		case 'h':
			return usage(stdout, 0);
		default:
			fprintf(stderr, "zipmap plot: %s %s\n", argv[optind - 1],
				opt == ':' ? "needs a value" : "is no option");
			return 2;
		}
	}
	if (argc - optind < 2)
		return usage(stderr, 2);
	for (int i = optind + 1; i < argc && !rc; i++)
		rc = plot_read(&plot, argv[i], &err);
	if (!rc)
		rc = plot_draw(&plot, form, kinds, title, argv[optind], &err);
	if (rc)
		fprintf(stderr, "zipmap plot: %s\n", err.text);
	plot_free(&plot);
	return rc ? 1 : 0;
}
