/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap draw". */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
#include "mapper/draw/map_draw.h"
#include "mapper/base/outfile.h"
#include "mapper/base/par.h"
#include "mapper/command/commands.h"

#define TEXT(member) .type = ZARGS_TEXT, .offset = offsetof(struct map_options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	MAP_OPTIONS_HOSTS,
	{.name = "clusters", TEXT(clusters), HELP("N|N,N,...", "without a hostfile, as with zipmap map")},
	{.name = "graph",
		.letter = 'g',
		TEXT(graph),
		HELP("FILE", "the communication graph: zipmap.graph(5), METIS or Matrix Market")},
	{.name = "map", .letter = 'm', TEXT(improve), HELP("FILE", "the map, zipper.map(5)")},
	{.name = "output", .letter = 'o', TEXT(output), HELP("FILE", "the picture, SVG")},
	{.name = "title", TEXT(title), HELP("TEXT", "above the picture; default: the program and the name of the map")},
	MAP_OPTIONS_PHASE,
	MAP_OPTIONS_ZIPPERS,
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipmap draw",
	.usage = "zipmap draw -f HOSTFILE|--clusters N -g GRAPH -m FILE.map -o FILE.svg [OPTION ...]\n"
		 "Draws clusters, nodes, ranks, and the traffic over each link.\n",
	.rows = rows,
};

static int options_parse(struct map_options *o, int argc, char **argv, struct zerr *err)
{
	int rc;

	*o = (struct map_options){.message_cost = 0, .phase = -1, .reserve = -1, .threads = par_threads()};
	map_predict_default_rates(&o->rates);
	rc = zargs_parse(&args, o, argc, argv, NULL, err);
	if (!rc && map_options_check_hosts(o, err))
		return -EINVAL;
	if (!rc && (!o->graph || !o->improve || !o->output))
		return zerr_set(err, -EINVAL, "-g GRAPH, -m FILE.map and -o FILE.svg are needed");
	return rc;
}

/* The title names the program, where the graph knows it, and the map. */
static int draw(const struct map_make *m, FILE *f, struct zerr *err)
{
	char *title = NULL;
	int rc = m->o->title	      ? asprintf(&title, "%s", m->o->title)
		 : *m->traffic->title ? asprintf(&title, "%s, %s", m->traffic->title, m->o->improve)
				      : asprintf(&title, "%s", m->o->improve);

	if (rc < 0)
		return zerr_set(err, -ENOMEM, "not enough memory");
	rc = map_draw(m, MAP_FROM_OLD, title, f, err);
	free(title);
	return rc;
}

int map_draw_command(int argc, char **argv)
{
	struct map_options o;
	struct map_make m;
	struct zerr err = {""};
	int rc = options_parse(&o, argc, argv, &err);
	struct outfile f;

	if (rc) {
		if (rc < 0)
			fprintf(stderr, "zipmap draw: %s\n", err.text);
		return rc < 0 ? 2 : 0;
	}
	rc = map_make_read(&m, &o, &err);
	if (!rc)
		rc = outfile_open(&f, o.output, &err);
	if (!rc)
		rc = outfile_close(&f, draw(&m, f.f, &err), &err);
	if (rc)
		fprintf(stderr, "zipmap draw: %s\n", err.text);
	map_make_free(&m);
	return rc ? 1 : 0;
}
