/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap draw". */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "map_draw.h"
#include "par.h"
#include "zipmap.h"

enum { OPT_TITLE = 256, OPT_ZIPPERS };

static const struct option long_options[] = {
	{"hosts", required_argument, NULL, 'f'},
	{"graph", required_argument, NULL, 'g'},
	{"map", required_argument, NULL, 'm'},
	{"output", required_argument, NULL, 'o'},
	{"title", required_argument, NULL, OPT_TITLE},
	{"zippers", required_argument, NULL, OPT_ZIPPERS},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int options_parse(struct map_options *o, const char **title, int argc, char **argv, struct zerr *err)
{
	int opt;

	*o = (struct map_options){.message_cost = 0, .phase = -1, .reserve = -1, .threads = par_threads()};
	map_rates_default(&o->rates);
	opterr = 0;
	while ((opt = getopt_long(argc, argv, ":f:g:m:o:h", long_options, NULL)) != -1)
		switch (opt) {
		case 'h':
			puts("usage: zipmap draw -f HOSTFILE -g GRAPH -m FILE.map -o FILE.svg [--title TEXT] "
			     "[--zippers all]\n"
			     "Draws clusters, nodes, ranks, and the traffic over each link.");
			return 1;
		case 'f':
			o->hosts = optarg;
			break;
		case 'g':
			o->graph = optarg;
			break;
		case 'm':
			o->improve = optarg;
			break;
		case 'o':
			o->output = optarg;
			break;
		case OPT_ZIPPERS:
			if (map_options_zippers(o, optarg, err))
				return -EINVAL;
			break;
		case OPT_TITLE:
			*title = optarg;
			break;
		default:
			return zerr_set(err, -EINVAL, opt == ':' ? "%s needs a value" : "%s is no option",
				argv[optind - 1]);
		}
	if (optind < argc)
		return zerr_set(err, -EINVAL, "\"%s\" is no option", argv[optind]);
	if (!o->hosts || !o->graph || !o->improve || !o->output)
		return zerr_set(err, -EINVAL, "-f HOSTFILE, -g GRAPH, -m FILE.map and -o FILE.svg are needed");
	return 0;
}

int draw_main(int argc, char **argv)
{
	struct map_options o;
	struct map_make m;
	struct zerr err = {""};
	const char *title = NULL;
	int rc = options_parse(&o, &title, argc, argv, &err);
	FILE *f = NULL;

	if (rc) {
		if (rc < 0)
			fprintf(stderr, "zipmap draw: %s\n", err.text);
		return rc < 0 ? 2 : 0;
	}
	rc = map_make_read(&m, &o, &err);
	if (!rc && !(f = fopen(o.output, "we")))
		rc = zerr_set(&err, -errno, "%s: %s", o.output, strerror(errno));
	if (!rc)
		rc = map_draw(&m, title ? title : o.improve, f, &err);
	if (f) {
		int bad = ferror(f);

		if ((fclose(f) || bad) && !rc)
			rc = zerr_set(&err, -EIO, "%s: cannot be written", o.output);
	}
	if (rc)
		fprintf(stderr, "zipmap draw: %s\n", err.text);
	map_make_free(&m);
	return rc ? 1 : 0;
}
