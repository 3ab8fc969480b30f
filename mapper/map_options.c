/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line of "zipmap map". */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "map_options.h"
#include "nearest.h"
#include "par.h"
#include "routing.h"
#include "spec.h"

enum {
	OPT_NEED = 256,
	OPT_PIN,
	OPT_FORBID,
	OPT_IMPROVE,
	OPT_RESERVE,
	OPT_RATES,
	OPT_MESSAGE,
	OPT_PHASE,
	OPT_EFFORT,
	OPT_LIST,
	OPT_ZIPPERS
};

static const struct option long_options[] = {
	{"hosts", required_argument, NULL, 'f'},
	{"graph", required_argument, NULL, 'g'},
	{"fabric", required_argument, NULL, 'F'},
	{"routing", required_argument, NULL, 'r'},
	{"strategy", required_argument, NULL, 'S'},
	{"output", required_argument, NULL, 'o'},
	{"improve", required_argument, NULL, OPT_IMPROVE},
	{"need", required_argument, NULL, OPT_NEED},
	{"pin", required_argument, NULL, OPT_PIN},
	{"forbid", required_argument, NULL, OPT_FORBID},
	{"reserve", required_argument, NULL, OPT_RESERVE},
	{"rates", required_argument, NULL, OPT_RATES},
	{"message-cost", required_argument, NULL, OPT_MESSAGE},
	{"phase", required_argument, NULL, OPT_PHASE},
	{"effort", required_argument, NULL, OPT_EFFORT},
	{"list", required_argument, NULL, OPT_LIST},
	{"zippers", required_argument, NULL, OPT_ZIPPERS},
	{"seed", required_argument, NULL, 's'},
	{"threads", required_argument, NULL, 't'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void help_print(void)
{
	puts("usage: zipmap [map] -f HOSTFILE -g GRAPH [-o FILE.map] [OPTION ...]\n"
	     "Decides which rank runs where, so that as little as possible has to go through zipperd.\n"
	     "  -f, --hosts FILE           clusters, nodes and zippers, zipper.hosts(5)\n"
	     "  -g, --graph FILE           who sends how much to whom: zipmap.graph(5), METIS or Matrix Market\n"
	     "      --phase N              of the graph; default: all\n"
	     "  -o, --output FILE          the map, zipper.map(5); default: only the prediction\n"
	     "  -S, --strategy NAME        auto, pairs, block, edge-cut, vertex-cut, spread, fastest;\n"
	     "                             default auto; keep: only predicts the map of --improve\n"
	     "      --improve FILE.map     start with this map\n"
	     "      --need FEATURE:RANKS   these ranks need nodes that have it, as gpu:0-15; may be repeated\n"
	     "      --pin RANKS:NODE       these ranks run there; may be repeated\n"
	     "      --forbid NODE,NODE     no ranks there; may be repeated\n"
	     "      --reserve N            cores of each zipper node that are kept for zipperd, where cores are "
	     "known;\n"
	     "                             default: one a direction\n"
	     "      --zippers one|all      one, as zmpirun does; or as if all forwarded, several in a row\n"
	     "  -F, --fabric TEXT|FILE     the networks, as zipmap model takes them: refines and predicts with the "
	     "model\n"
	     "  -r, --routing NAME         of the model, default SD\n"
	     "      --rates \"KEY:N ...\"    of the time estimate: inside, native, direct, bridged (ns a message),\n"
	     "                             bandwidth, forward (bytes a second)\n"
	     "      --message-cost BYTES   what a message counts beyond its bytes when the search compares\n"
	     "      --list N               crossing pairs that the map names, default 1000\n"
	     "      --effort N             1 to 100: how long the search is, default 1\n"
	     "  -s, --seed N               default 1\n"
	     "  -t, --threads N            of predictions; the result does not depend on it\n"
	     "  -v, --verbose              what the search finds\n"
	     "  -q, --quiet                no table");
}

static int number_take(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *out, struct zerr *err)
{
	if (spec_parse_u64(text, out) || *out < min || *out > max)
		return zerr_set(err, -EINVAL, "--%s: \"%.64s\" is not a number from %llu to %llu", name, text,
			(unsigned long long)min, (unsigned long long)max);
	return 0;
}

static int strategy_take(struct map_options *o, const char *text, struct zerr *err)
{
	struct znearest near;
	char hint[96];

	znearest_init(&near, text);
	for (int i = 0; i < MAP_STRATEGIES; i++) {
		znearest_add(&near, map_strategy_names[i]);
		if (!strcmp(map_strategy_names[i], text)) {
			o->strategy = (enum map_strategy)i;
			return 0;
		}
	}
	return zerr_set(err, -EINVAL, "\"%.64s\" is no strategy%s", text, znearest_format(&near, hint, sizeof(hint)));
}

/* "native:1500 forward:2G" */
static int rates_take(struct map_rates *r, const char *text, struct zerr *err)
{
	static const char *const names[MAP_KINDS] = {"inside", "native", "direct", "bridged"};
	struct spec_list list;
	char *named;
	uint64_t v;
	int rc;

	if (asprintf(&named, "rates %s", text) < 0)
		return zerr_set(err, -ENOMEM, "not enough memory");
	rc = spec_parse(&list, named, "--rates", false, err);
	free(named);
	if (rc)
		return rc;
	if (list.n != 1)
		rc = zerr_set(err, -EINVAL, "--rates: one list of KEY:N");
	for (int i = 0; i < MAP_KINDS && !rc; i++) {
		rc = spec_u64(list.specs, names[i], (uint64_t)(r->latency[i] * 1e9 + 0.5), 0, 1000000000, &v, err);
		r->latency[i] = rc ? 0 : (double)v * 1e-9;
	}
	if (!rc && !(rc = spec_u64(list.specs, "bandwidth", (uint64_t)r->bandwidth, 1, UINT64_MAX, &v, err)))
		r->bandwidth = (double)v;
	if (!rc && !(rc = spec_u64(list.specs, "forward", (uint64_t)r->forward, 1, UINT64_MAX, &v, err)))
		r->forward = (double)v;
	if (!rc) {
		list.specs->words[0].used = true;
		rc = spec_finish(list.specs, err);
	}
	spec_free(&list);
	return rc;
}

int map_options_zippers(struct map_options *o, const char *text, struct zerr *err)
{
	o->all_zippers = !strcmp(text, "all");
	return o->all_zippers || !strcmp(text, "one") ? 0 : zerr_set(err, -EINVAL, "--zippers: one or all");
}

static int wish_take(const char **list, unsigned *n, const char *arg, struct zerr *err)
{
	if (*n == MAP_WISHES_MAX)
		return zerr_set(err, -EINVAL, "more than %d demands of a kind", MAP_WISHES_MAX);
	list[(*n)++] = arg;
	return 0;
}

static int number_option(struct map_options *o, int opt, const char *arg, struct zerr *err)
{
	uint64_t v;
	int rc;

	switch (opt) {
	case OPT_RESERVE:
		rc = number_take("reserve", arg, 0, 1024, &v, err);
		o->reserve = rc ? 0 : (int)v;
		return rc;
	case OPT_MESSAGE:
		rc = number_take("message-cost", arg, 0, UINT64_C(1) << 40, &v, err);
		o->message_cost = rc ? 0 : (int64_t)v;
		return rc;
	case OPT_PHASE:
		rc = number_take("phase", arg, 1, INT32_MAX, &v, err);
		o->phase = rc ? 0 : (int64_t)v;
		return rc;
	case OPT_EFFORT:
		rc = number_take("effort", arg, 1, 100, &v, err);
		o->effort = rc ? 0 : (unsigned)v;
		return rc;
	case OPT_LIST:
		rc = number_take("list", arg, 0, 100000000, &v, err);
		o->list = rc ? 0 : (unsigned)v;
		return rc;
	case 's':
		return number_take("seed", arg, 0, UINT64_MAX, &o->seed, err);
	default:
		rc = number_take("threads", arg, 1, PAR_THREADS_MAX, &v, err);
		o->threads = rc ? 0 : (unsigned)v;
		return rc;
	}
}

static int option_take(struct map_options *o, int opt, char *arg, struct zerr *err)
{
	switch (opt) {
	case 'f':
		o->hosts = arg;
		return 0;
	case 'g':
		o->graph = arg;
		return 0;
	case 'F':
		o->fabric = arg;
		return 0;
	case 'r':
		o->routing = routing_find(arg);
		return o->routing ? 0 : zerr_set(err, -EINVAL, "\"%.64s\" is no routing", arg);
	case 'S':
		return strategy_take(o, arg, err);
	case 'o':
		o->output = arg;
		return 0;
	case OPT_ZIPPERS:
		return map_options_zippers(o, arg, err);
	case OPT_IMPROVE:
		o->improve = arg;
		return 0;
	case OPT_NEED:
		return wish_take(o->wishes.need, &o->wishes.nneed, arg, err);
	case OPT_PIN:
		return wish_take(o->wishes.pin, &o->wishes.npin, arg, err);
	case OPT_FORBID:
		return wish_take(o->wishes.forbid, &o->wishes.nforbid, arg, err);
	case OPT_RATES:
		return rates_take(&o->rates, arg, err);
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	default:
		return number_option(o, opt, arg, err);
	}
}

static int options_check(const struct map_options *o, struct zerr *err)
{
	if (!o->hosts)
		return zerr_set(err, -EINVAL, "which nodes are there? (-f HOSTFILE)");
	if (!o->graph)
		return zerr_set(err, -EINVAL, "who sends to whom? (-g GRAPH)");
	if (o->strategy == MAP_KEEP && !o->improve)
		return zerr_set(err, -EINVAL, "keep which map? (--improve FILE.map)");
	if (o->improve && (o->strategy == MAP_PAIRS || o->strategy == MAP_BLOCK))
		return zerr_set(err, -EINVAL, "%s is a layout: there is nothing to improve in it",
			map_strategy_names[o->strategy]);
	return 0;
}

int map_options_parse(struct map_options *o, int argc, char **argv, struct zerr *err)
{
	int opt, rc = 0;

	*o = (struct map_options){.message_cost = -1,
		.phase = -1,
		.reserve = -1,
		.effort = 1,
		.list = 1000,
		.seed = 1,
		.threads = par_threads(),
		.routing = routing_find("SD")};
	map_rates_default(&o->rates);
	opterr = 0;
	while (!rc && (opt = getopt_long(argc, argv, ":f:g:F:r:S:o:s:t:qvh", long_options, NULL)) != -1) {
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
	return rc ? rc : options_check(o, err);
}
