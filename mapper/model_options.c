/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line of "zipmap model", and prints its help from the tables. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model_options.h"
#include "par.h"
#include "pattern.h"
#include "stats.h"
#include "workload.h"

enum {
	OPT_PATHS = 256,
	OPT_DIRECT,
	OPT_EXPOSURE,
	OPT_ITERATIONS,
	OPT_CUTOFF,
	OPT_PATIENCE,
	OPT_WORK,
	OPT_PACKET,
	OPT_BINS,
	OPT_CSV,
	OPT_JSON,
	OPT_LINKS,
	OPT_PLOT,
	OPT_PLOT_LINKS,
	OPT_TITLE
};

static const struct option long_options[] = {
	{"network", required_argument, NULL, 'n'},
	{"job", required_argument, NULL, 'j'},
	{"workload", required_argument, NULL, 'w'},
	{"placement", required_argument, NULL, 'p'},
	{"map", required_argument, NULL, 'm'},
	{"routing", required_argument, NULL, 'r'},
	{"seed", required_argument, NULL, 's'},
	{"threads", required_argument, NULL, 't'},
	{"paths", required_argument, NULL, OPT_PATHS},
	{"direct-paths", required_argument, NULL, OPT_DIRECT},
	{"exposure", required_argument, NULL, OPT_EXPOSURE},
	{"iterations", required_argument, NULL, OPT_ITERATIONS},
	{"patience", required_argument, NULL, OPT_PATIENCE},
	{"cutoff", required_argument, NULL, OPT_CUTOFF},
	{"work", required_argument, NULL, OPT_WORK},
	{"packet", required_argument, NULL, OPT_PACKET},
	{"bins", required_argument, NULL, OPT_BINS},
	{"csv", required_argument, NULL, OPT_CSV},
	{"json", required_argument, NULL, OPT_JSON},
	{"links", required_argument, NULL, OPT_LINKS},
	{"plot", required_argument, NULL, OPT_PLOT},
	{"plot-links", required_argument, NULL, OPT_PLOT_LINKS},
	{"title", required_argument, NULL, OPT_TITLE},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Help texts may have several lines; each is indented. */
static void help_item(const char *name, const char *text)
{
	while (*text) {
		int len = (int)strcspn(text, "\n");

		printf("    %-12s %.*s\n", name, len, text);
		text += len + (text[len] == '\n');
		name = "";
	}
}

static void help_print(void)
{
	puts("usage: zipmap model -n NETWORK -j JOB [-j JOB ...] [-p PLACEMENTS] [-r ROUTINGS] [OPTION ...]\n"
	     "  -n, --network TEXT|PRESET|FILE   topology and keys, as \"dragonfly group:8 router:4\"");
	for (const struct net_preset *p = net_presets; p->name; p++)
		help_item(p->name, p->help);
	for (const struct net_ops *const *o = net_table; *o; o++)
		help_item((*o)->name, (*o)->help);
	puts("  -j, --job \"PATTERN[:DIMS] [share:PERCENT|nodes:N|ranks:N] [routing:NAME] [seed:N] [KEY:VALUE ...]\"");
	for (const struct pattern_ops *const *p = pattern_table; *p; p++)
		help_item((*p)->name, (*p)->help);
	puts("  -w, --workload 1|2|3|4|FILE      jobs of Table II, or from a file, one a line\n"
	     "  -p, --placement LIST|all         default RDN");
	for (const struct placement *p = placement_table; p->name; p++)
		help_item(p->name, p->help);
	puts("  -m, --map FILE                   instead: lines \"RANK NODE\"\n"
	     "  -r, --routing LIST|all           default SD");
	for (const struct routing *const *r = routing_table; *r; r++)
		help_item((*r)->name, (*r)->help);
	puts("  -s, --seed N                     default 1\n"
	     "  -t, --threads N                  default: processors; the result does not depend on it\n"
	     "      --paths N                    random paths of a message and iteration, default 4\n"
	     "      --direct-paths N             direct ones among them with AH, default 2\n"
	     "      --exposure N                 iterations over which bandwidth is exposed, default 50\n"
	     "      --iterations N               most iterations, default 80\n"
	     "      --patience N                 iterations without success until a message gives up, default 3\n"
	     "      --cutoff X                   smallest usable fraction of a link, default 2e-6\n"
	     "      --work N                     random paths an iteration; above, messages take turns; default 100 "
	     "million\n"
	     "      --packet BYTES               of SIP, default 64K\n"
	     "      --bins N                     of histograms, default 25\n"
	     "      --csv FILE  --json FILE      results\n"
	     "      --links FILE                 the load of every link, CSV\n"
	     "      --plot BASE                  box plots: BASE.svg and BASE.png (see also zipmap plot)\n"
	     "      --plot-links LIST            panels, as all,L1,L2; default all\n"
	     "      --title TEXT                 above the plot\n"
	     "  -q, --quiet                      no progress bar");
}

static int number_parse(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *out, struct zerr *err)
{
	if (spec_parse_u64(text, out) || *out < min || *out > max)
		return zerr_set(err, -EINVAL, "--%s: \"%s\" is not a number from %llu to %llu", name, text,
			(unsigned long long)min, (unsigned long long)max);
	return 0;
}

static int unsigned_parse(const char *name, const char *text, unsigned min, unsigned max, unsigned *out,
	struct zerr *err)
{
	uint64_t v;
	int rc = number_parse(name, text, min, max, &v, err);

	if (!rc)
		*out = (unsigned)v;
	return rc;
}

/* Jobs are kept as one text: what they are called in results, and what is parsed in the end. */
static int jobs_append(struct model_options *o, const char *text, struct zerr *err)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", o->jobs ? o->jobs : "", o->jobs ? "; " : "", text) < 0)
		return zerr_set(err, -ENOMEM, "not enough memory");
	free(o->jobs);
	o->jobs = joined;
	return 0;
}

static int placements_parse(struct model_options *o, char *list, struct zerr *err)
{
	char all[] = "RDN,RDR,RDC,RDG,RRN,RRR", *save, *word; /* the paper's six */

	o->nplacements = 0;
	if (!strcasecmp(list, "all"))
		list = all;
	for (word = strtok_r(list, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		if (o->nplacements == OPTIONS_LIST_MAX)
			return zerr_set(err, -EINVAL, "more than %d placements", OPTIONS_LIST_MAX);
		o->placements[o->nplacements] = placement_find(word);
		if (!o->placements[o->nplacements++])
			return zerr_set(err, -EINVAL, "\"%s\" is no placement", word);
	}
	return o->nplacements ? 0 : zerr_set(err, -EINVAL, "no placement named");
}

static int routings_parse(struct model_options *o, char *list, struct zerr *err)
{
	char all[] = "SD,AD,SI,AI,AH", *save, *word; /* the paper's five: not the packets of SIP */

	o->nroutings = 0;
	if (!strcasecmp(list, "all"))
		list = all;
	for (word = strtok_r(list, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		if (o->nroutings == OPTIONS_LIST_MAX)
			return zerr_set(err, -EINVAL, "more than %d routings", OPTIONS_LIST_MAX);
		o->routings[o->nroutings] = routing_find(word);
		if (!o->routings[o->nroutings++])
			return zerr_set(err, -EINVAL, "\"%s\" is no routing", word);
	}
	return o->nroutings ? 0 : zerr_set(err, -EINVAL, "no routing named");
}

static int fraction_parse(const char *text, double *out, struct zerr *err)
{
	char *end;

	*out = strtod(text, &end);
	if (end == text || *end || !(*out > 0 && *out < 1))
		return zerr_set(err, -EINVAL, "--cutoff: \"%s\" is not a number between 0 and 1", text);
	return 0;
}

static int workload_read(struct model_options *o, const char *name, struct zerr *err)
{
	const char *preset = workload_preset(name);

	if (o->jobs || o->job_specs.n)
		return zerr_set(err, -EINVAL, "one workload, or jobs, not both");
	if (preset)
		return jobs_append(o, preset, err);
	return spec_read(&o->job_specs, name, err);
}

static int option_take(struct model_options *o, int opt, char *arg, struct zerr *err)
{
	struct model_opts *m = &o->model;

	switch (opt) {
	case 'n':
		o->network = arg;
		return 0;
	case 'j':
		if (o->job_specs.n)
			return zerr_set(err, -EINVAL, "one workload, or jobs, not both");
		return jobs_append(o, arg, err);
	case 'w':
		return workload_read(o, arg, err);
	case 'p':
		return placements_parse(o, arg, err);
	case 'r':
		return routings_parse(o, arg, err);
	case 'm':
		o->map = arg;
		return 0;
	case 's':
		return number_parse("seed", arg, 0, UINT64_MAX, &m->seed, err);
	case 't':
		return unsigned_parse("threads", arg, 1, PAR_THREADS_MAX, &m->threads, err);
	case OPT_PATHS:
		return unsigned_parse("paths", arg, 1, ROUTING_PATHS_MAX, &m->paths, err);
	case OPT_DIRECT:
		return unsigned_parse("direct-paths", arg, 0, ROUTING_PATHS_MAX, &m->direct_paths, err);
	case OPT_EXPOSURE:
		return unsigned_parse("exposure", arg, 1, 10000, &m->exposure, err);
	case OPT_ITERATIONS:
		return unsigned_parse("iterations", arg, 1, 60000, &m->iterations, err);
	case OPT_PATIENCE:
		return unsigned_parse("patience", arg, 1, 1000000, &m->patience, err);
	case OPT_CUTOFF:
		return fraction_parse(arg, &m->cutoff, err);
	case OPT_WORK:
		return number_parse("work", arg, 1, UINT64_MAX / 2, &m->work, err);
	case OPT_PACKET:
		return number_parse("packet", arg, 1, 1ull << 40, &m->packet, err);
	case OPT_BINS:
		return unsigned_parse("bins", arg, 1, STATS_BINS_MAX, &o->bins, err);
	case OPT_CSV:
		o->csv = arg;
		return 0;
	case OPT_JSON:
		o->json = arg;
		return 0;
	case OPT_LINKS:
		o->links = arg;
		return 0;
	case OPT_PLOT:
		o->plot = arg;
		return 0;
	case OPT_PLOT_LINKS:
		o->plot_links = arg;
		return 0;
	case OPT_TITLE:
		o->plot_title = arg;
		return 0;
	default:
		o->quiet = true;
		return 0;
	}
}

static int options_check(struct model_options *o, struct zerr *err)
{
	char preset_placement[] = "RDN", preset_routing[] = "SD";
	int rc = 0;

	if (!o->network)
		return zerr_set(err, -EINVAL, "which network? (-n)");
	if (!o->jobs && !o->job_specs.n)
		return zerr_set(err, -EINVAL, "what is sent? (-j or -w)");
	if (o->model.iterations < o->model.exposure)
		return zerr_set(err, -EINVAL, "--iterations %u is less than --exposure %u", o->model.iterations,
			o->model.exposure);
	if (o->model.direct_paths > o->model.paths)
		return zerr_set(err, -EINVAL, "--direct-paths %u is more than --paths %u", o->model.direct_paths,
			o->model.paths);
	if (o->map && o->nplacements)
		return zerr_set(err, -EINVAL, "a map, or placements, not both");
	if (!o->map && !o->nplacements)
		rc = placements_parse(o, preset_placement, err);
	if (!rc && !o->nroutings)
		rc = routings_parse(o, preset_routing, err);
	if (!rc && !o->job_specs.n)
		rc = spec_parse(&o->job_specs, o->jobs, "job", false, err);
	if (!rc && o->map && o->job_specs.n != 1)
		rc = zerr_set(err, -EINVAL, "a map is for one job, not %zu", o->job_specs.n);
	return rc;
}

int model_options_parse(struct model_options *o, int argc, char **argv, struct zerr *err)
{
	int opt, rc = 0;

	memset(o, 0, sizeof(*o));
	model_defaults(&o->model);
	o->model.threads = par_threads();
	o->bins = 25;
	opterr = 0;
	while (!rc && (opt = getopt_long(argc, argv, ":n:j:w:p:m:r:s:t:qh", long_options, NULL)) != -1) {
		if (opt == 'h') {
			help_print();
			return 1;
		}
		if (opt == '?' || opt == ':')
			rc = zerr_set(err, -EINVAL, opt == ':' ? "%s needs a value" : "%s is no option",
				argv[optind - 1]);
		else
			rc = option_take(o, opt, optarg, err);
	}
	if (!rc && optind < argc)
		rc = zerr_set(err, -EINVAL, "\"%s\" is no option", argv[optind]);
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
