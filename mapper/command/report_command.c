/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap report": one page about a recorded program. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "common/args/args.h"
#include "mapper/base/outfile.h"
#include "mapper/command/commands.h"
#include "mapper/draw/page.h"

#define TEXT(member) .type = ZARGS_TEXT, .offset = offsetof(struct map_options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	MAP_OPTIONS_HOSTS,
	{.name = "clusters", TEXT(clusters), HELP("N|N,N,...", "without a hostfile, as with zipmap map; default 2")},
	{.name = "output", .letter = 'o', TEXT(output), HELP("FILE", "the page, HTML")},
	{.name = "title", TEXT(title), HELP("TEXT", "of the page; default: the name of the program")},
	MAP_OPTIONS_PHASE,
	MAP_OPTIONS_ZIPPERS,
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipmap report",
	.usage = "zipmap report [-f HOSTFILE|--clusters N] -o FILE.html [OPTION ...] GRAPH\n"
		 "Makes one page: totals, time, matrix, the best map beside simple ones, what crosses, its cost.\n",
	.operands = "GRAPH",
	.least = 1,
	.most = 1,
	.rows = rows,
};

static int options_parse(struct map_options *o, int argc, char **argv, struct zerr *err)
{
	int first, rc;

	map_options_preset(o);
	rc = zargs_parse(&args, o, argc, argv, &first, err);
	if (rc)
		return rc;
	o->graph = argv[first];
	if (!o->output)
		return zerr_set(err, -EINVAL, "-o FILE.html is needed");
	return o->hosts || o->clusters ? map_options_check_hosts(o, err) : 0;
}

int report_command(int argc, char **argv)
{
	struct map_options o;
	struct map_make m;
	struct outfile f;
	struct zerr err = {""};
	int rc = options_parse(&o, argc, argv, &err);

	if (rc) {
		if (rc < 0)
			fprintf(stderr, "zipmap report: %s\n", err.text);
		return rc < 0 ? 2 : 0;
	}
	rc = map_make_run(&m, &o, &err);
	if (!rc)
		rc = outfile_open(&f, o.output, &err);
	if (!rc)
		rc = outfile_close(&f, page_write(f.f, &m, &err), &err);
	if (rc)
		fprintf(stderr, "zipmap report: %s\n", err.text);
	map_make_free(&m);
	return rc ? 1 : 0;
}
