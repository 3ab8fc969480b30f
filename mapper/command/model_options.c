/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line of "zipmap model", and prints its help from the tables. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/args/args.h"
#include "common/args/help.h"
#include "mapper/net/topology.h"
#include "mapper/command/model_options.h"
#include "mapper/base/par.h"
#include "mapper/traffic/pattern.h"
#include "mapper/model/link_stats.h"
#include "mapper/model/workload.h"
#include "mapper/model/routing_table.h"

#define NAME_WIDTH 12

void model_options_list_networks(void)
{
	for (const struct topology_preset *p = topology_presets; p->name; p++)
		zargs_help_item(4, p->name, NAME_WIDTH, p->help);
	for (const struct net_ops *const *o = topology_table; *o; o++)
		zargs_help_item(4, (*o)->name, NAME_WIDTH, (*o)->help);
}

static void list_patterns(void)
{
	for (const struct pattern_ops *const *p = pattern_table; *p; p++)
		zargs_help_item(4, (*p)->name, NAME_WIDTH, (*p)->help);
}

void model_options_list_placements(void)
{
	for (const struct job_placement *p = job_placement_table; p->name; p++)
		zargs_help_item(4, p->name, NAME_WIDTH, p->help);
}

void model_options_list_routings(void)
{
	for (const struct routing *const *r = routing_table; *r; r++)
		zargs_help_item(4, (*r)->name, NAME_WIDTH, (*r)->help);
}

/* Jobs are kept as one text. It names the jobs in results, and is parsed in the end. */
static int jobs_append(struct model_options *o, const char *text, struct zerr *err)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", o->jobs ? o->jobs : "", o->jobs ? "; " : "", text) < 0)
		return zerr_set(err, -ENOMEM, "not enough memory");
	free(o->jobs);
	o->jobs = joined;
	return 0;
}

static int placements_parse(void *options, char *list, struct zerr *err)
{
	struct model_options *o = options;
	char all[] = "RDN,RDR,RDC,RDG,RRN,RRR", *save, *word; /* the paper's six */

	o->nplacements = 0;
	if (!strcasecmp(list, "all"))
		list = all;
	for (word = strtok_r(list, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		if (o->nplacements == OPTIONS_LIST_MAX)
			return zerr_set(err, -EINVAL, "more than %d placements", OPTIONS_LIST_MAX);
		o->placements[o->nplacements] = job_placement_find(word);
		if (!o->placements[o->nplacements++])
			return zerr_set(err, -EINVAL, "\"%s\" is no placement", word);
	}
	return o->nplacements ? 0 : zerr_set(err, -EINVAL, "no placement named");
}

static int routings_parse(void *options, char *list, struct zerr *err)
{
	struct model_options *o = options;
	char all[] = "SD,AD,SI,AI,AH", *save, *word; /* the paper's five: not the packets of SIP */

	o->nroutings = 0;
	if (!strcasecmp(list, "all"))
		list = all;
	for (word = strtok_r(list, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		if (o->nroutings == OPTIONS_LIST_MAX)
			return zerr_set(err, -EINVAL, "more than %d routings", OPTIONS_LIST_MAX);
		o->routings[o->nroutings] = routing_table_find(word);
		if (!o->routings[o->nroutings++])
			return zerr_set(err, -EINVAL, "\"%s\" is no routing", word);
	}
	return o->nroutings ? 0 : zerr_set(err, -EINVAL, "no routing named");
}

static int cutoff_parse(void *cutoff, char *text, struct zerr *err)
{
	double *out = cutoff;
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end || !(*out > 0 && *out < 1))
		return zerr_set(err, -EINVAL, "--cutoff: \"%s\" is not a number between 0 and 1", text);
	return 0;
}

static int workload_read(void *options, char *name, struct zerr *err)
{
	struct model_options *o = options;
	const char *preset = workload_preset(name);
	int rc;

	if (o->jobs || o->job_specs.n)
		return zerr_set(err, -EINVAL, "one workload, or jobs, not both");
	if (preset)
		return jobs_append(o, preset, err);
	rc = spec_read(&o->job_specs, name, err);
	return !rc && !o->job_specs.n ? zerr_set(err, -EINVAL, "%s: no job in it", name) : rc;
}

static int job_take(void *options, char *text, struct zerr *err)
{
	struct model_options *o = options;

	if (o->job_specs.n)
		return zerr_set(err, -EINVAL, "one workload, or jobs, not both");
	return jobs_append(o, text, err);
}

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct model_options, member)
#define CALL(function) .type = ZARGS_CALL, .take = (function)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "network",
		.letter = 'n',
		FIELD(TEXT, network),
		HELP("TEXT|PRESET|FILE", "topology and keys, as \"dragonfly group:8 router:4\""),
		.list = model_options_list_networks},
	{.name = "job",
		.letter = 'j',
		CALL(job_take),
		HELP("\"TEXT\"", "PATTERN[:DIMS] [share:PERCENT|nodes:N|ranks:N] [routing:NAME] [seed:N]\n"
				 "[KEY:VALUE ...]; may be repeated"),
		.list = list_patterns},
	{.name = "workload",
		.letter = 'w',
		CALL(workload_read),
		HELP("1|2|3|4|FILE", "jobs of Table II, or from a file, one a line")},
	{.name = "placement",
		.letter = 'p',
		CALL(placements_parse),
		HELP("LIST|all", "default RDN"),
		.list = model_options_list_placements},
	{.name = "map", .letter = 'm', FIELD(TEXT, map), HELP("FILE", "instead: lines \"RANK NODE\"")},
	{.name = "hosts",
		.letter = 'f',
		FIELD(TEXT, hosts),
		HELP("FILE", "the map is one of zipmap map, for this hostfile")},
	{.name = "busy", FIELD(TEXT, busy), HELP("NODES", "nodes that other jobs run on, as node[01-04,7] or [0-15]")},
	{.name = "busy-file",
		FIELD(TEXT, busy_file),
		HELP("FILE",
			"such nodes, one or a list in a line; behind it the number of busy cores,\nif not all are")},
	{.name = "routing",
		.letter = 'r',
		CALL(routings_parse),
		HELP("LIST|all", "default SD"),
		.list = model_options_list_routings},
	{.name = "seed", .letter = 's', FIELD(U64, model.seed), .max = UINT64_MAX, HELP("N", "default 1")},
	{.name = "threads",
		.letter = 't',
		FIELD(UNSIGNED, model.threads),
		.min = 1,
		.max = PAR_THREADS_MAX,
		HELP("N", "default: processors; the result does not depend on it")},
	{.name = "paths",
		FIELD(UNSIGNED, model.paths),
		.min = 1,
		.max = ROUTING_PATHS_MAX,
		HELP("N", "random paths of a message and iteration, default 4")},
	{.name = "direct-paths",
		FIELD(UNSIGNED, model.direct_paths),
		.max = ROUTING_PATHS_MAX,
		HELP("N", "direct ones among them with AH, default 2")},
	{.name = "exposure",
		FIELD(UNSIGNED, model.exposure),
		.min = 1,
		.max = 10000,
		HELP("N", "iterations over which bandwidth is exposed, default 50")},
	{.name = "iterations",
		FIELD(UNSIGNED, model.iterations),
		.min = 1,
		.max = 60000,
		HELP("N", "most iterations, default 80")},
	{.name = "patience",
		FIELD(UNSIGNED, model.patience),
		.min = 1,
		.max = 1000000,
		HELP("N", "iterations without success until a message gives up, default 3")},
	{.name = "cutoff",
		FIELD(CALL, model.cutoff),
		.take = cutoff_parse,
		HELP("X", "smallest usable fraction of a link, default 2e-6")},
	{.name = "work",
		FIELD(U64, model.work),
		.min = 1,
		.max = UINT64_MAX / 2,
		HELP("N", "most random paths of an iteration; then fewer messages draw paths,\nor they take turns; "
			  "default 20 million")},
	{.name = "packet",
		FIELD(U64, model.packet),
		.min = 1,
		.max = UINT64_C(1) << 40,
		HELP("BYTES", "of SIP, default 64K")},
	{.name = "bins",
		FIELD(UNSIGNED, bins),
		.min = 1,
		.max = LINK_STATS_BINS_MAX,
		HELP("N", "of histograms, default 25")},
	{.name = "csv", FIELD(TEXT, csv), HELP("FILE", "results")},
	{.name = "json", FIELD(TEXT, json), HELP("FILE", "the same")},
	{.name = "links", FIELD(TEXT, links), HELP("FILE", "the load of every link, CSV")},
	{.name = "plot", FIELD(TEXT, plot), HELP("BASE", "box plots: BASE.svg and BASE.png (see also zipmap plot)")},
	{.name = "plot-links", FIELD(TEXT, plot_links), HELP("LIST", "panels, as all,L1,L2; default all")},
	{.name = "title", FIELD(TEXT, plot_title), HELP("TEXT", "above the plot")},
	{.name = "quiet", .letter = 'q', FIELD(FLAG, quiet), .help = "no progress bar"},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipmap model",
	.usage = "zipmap model -n NETWORK -j JOB [-j JOB ...] [-p PLACEMENTS] [-r ROUTINGS] [OPTION ...]\n"
		 "Predicts the traffic on every link of a network.\n",
	.rows = rows,
};

/* Parses the jobs of -j or of a preset. Where there are several, an error names the job. */
static int jobs_parse(struct model_options *o, struct zerr *err)
{
	int rc = spec_parse(&o->job_specs, o->jobs, "job", false, err);

	if (!rc && !o->job_specs.n)
		return zerr_set(err, -EINVAL, "-j: no job in it");
	for (size_t i = 0; i < o->job_specs.n && o->job_specs.n > 1 && !rc; i++) {
		char *where;

		if (asprintf(&where, "job %zu", i + 1) < 0)
			return zerr_set(err, -ENOMEM, "not enough memory");
		free(o->job_specs.specs[i].where);
		o->job_specs.specs[i].where = where;
	}
	return rc;
}

#define NOT_GIVEN UINT_MAX

void model_options_leave_direct(struct model_opts *o)
{
	o->direct_paths = NOT_GIVEN;
}

int model_options_check_direct(struct model_opts *o, struct zerr *err)
{
	struct model_opts usual;
	model_defaults(&usual);
	if (o->direct_paths == NOT_GIVEN)
		o->direct_paths = o->paths < usual.direct_paths ? o->paths : usual.direct_paths;
	if (o->direct_paths > o->paths)
		return zerr_set(err, -EINVAL, "--direct-paths %u is more than --paths %u", o->direct_paths, o->paths);
	return 0;
}

static int options_check(struct model_options *o, struct zerr *err)
{
	char preset_placement[] = "RDN", preset_routing[] = "SD";
	int rc = 0;

	if (!o->network)
		return zerr_set(err, -EINVAL, "no network: give one (-n)");
	if (!o->jobs && !o->job_specs.n)
		return zerr_set(err, -EINVAL, "no messages: give a job or a workload (-j or -w)");
	if (o->model.iterations < o->model.exposure)
		return zerr_set(err, -EINVAL, "--iterations %u is less than --exposure %u", o->model.iterations,
			o->model.exposure);
	if ((rc = model_options_check_direct(&o->model, err)))
		return rc;
	if (o->map && o->nplacements)
		return zerr_set(err, -EINVAL, "a map, or placements, not both");
	if (o->map && (o->busy || o->busy_file))
		return zerr_set(err, -EINVAL, "--busy: a map says which nodes are taken");
	if (o->hosts && !o->map)
		return zerr_set(err, -EINVAL, "--hosts needs a map: give one (-m)");
	if (!o->map && !o->nplacements)
		rc = placements_parse(o, preset_placement, err);
	if (!rc && !o->nroutings)
		rc = routings_parse(o, preset_routing, err);
	if (!rc && !o->job_specs.n)
		rc = jobs_parse(o, err);
	if (!rc && o->map && o->job_specs.n != 1)
		rc = zerr_set(err, -EINVAL, "a map is for one job, not %zu", o->job_specs.n);
	return rc;
}

int model_options_parse(struct model_options *o, int argc, char **argv, struct zerr *err)
{
	int rc;

	memset(o, 0, sizeof(*o));
	model_defaults(&o->model);
	model_options_leave_direct(&o->model);
	o->model.threads = par_threads();
	o->bins = 25;
	rc = zargs_parse(&args, o, argc, argv, NULL, err);
	if (rc > 0)
		return rc;
	if (!rc)
		rc = options_check(o, err);
	if (!o->plot_title)
		o->plot_title = o->jobs ? o->jobs : "";
	if (!o->plot_links)
		o->plot_links = "all";
	if (!rc && !o->jobs)
		rc = jobs_append(o, "workload", err);
	return rc;
}

void model_options_free(struct model_options *o)
{
	spec_free(&o->job_specs);
	free(o->jobs);
}
