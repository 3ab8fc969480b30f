/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap draw". */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/config/args.h"
#include "mapper/draw/map_draw.h"
#include "mapper/base/outfile.h"
#include "mapper/base/par.h"
#include "mapper/command/commands.h"

#define TEXT(member) .type = ZARGS_TEXT, .offset = offsetof(struct map_options, member)
static const struct zargs_row rows[] = {
	{.name = "hosts", .letter = 'f', TEXT(hosts)},
	{.name = "graph", .letter = 'g', TEXT(graph)},
	{.name = "map", .letter = 'm', TEXT(improve)},
	{.name = "output", .letter = 'o', TEXT(output)},
	{.name = "title", TEXT(title)},
	{.name = "phase", .type = ZARGS_I64, .offset = offsetof(struct map_options, phase), .min = 1, .max = INT32_MAX},
	{.name = "zippers", .type = ZARGS_CALL, .take = map_options_zippers},
	{.name = NULL},
};

static int options_parse(struct map_options *o, int argc, char **argv, struct zerr *err)
{
	int rc;

	*o = (struct map_options){.message_cost = 0, .phase = -1, .reserve = -1, .threads = par_threads()};
	map_predict_default_rates(&o->rates);
	rc = zargs_parse(rows, o, argc, argv, NULL, err);
	if (rc > 0)
		puts("usage: zipmap draw -f HOSTFILE -g GRAPH -m FILE.map -o FILE.svg [--phase N] [--title TEXT] "
		     "[--zippers job|N|all]\n"
		     "Draws clusters, nodes, ranks, and the traffic over each link.");
	if (!rc && (!o->hosts || !o->graph || !o->improve || !o->output))
		return zerr_set(err, -EINVAL, "-f HOSTFILE, -g GRAPH, -m FILE.map and -o FILE.svg are needed");
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
		rc = outfile_close(&f, map_draw(&m, o.title ? o.title : o.improve, f.f, &err), &err);
	if (rc)
		fprintf(stderr, "zipmap draw: %s\n", err.text);
	map_make_free(&m);
	return rc ? 1 : 0;
}
