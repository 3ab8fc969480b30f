/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line of "zipmap map". */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
#include "common/args/value.h"
#include "common/control/ctl.h"
#include "mapper/map/map_options.h"
#include "common/config/nearest.h"
#include "mapper/base/par.h"
#include "mapper/model/routing_table.h"
#include "mapper/base/spec.h"

static int strategy_take(void *options, char *text, struct zerr *err)
{
	struct map_options *o = options;
	struct znearest near;
	char hint[96];

	znearest_init(&near, text);
	for (int i = 0; i < MAP_STRATEGIES; i++) {
		znearest_add(&near, map_search_strategies[i]);
		if (!strcmp(map_search_strategies[i], text)) {
			o->strategy = (enum map_strategy)i;
			return 0;
		}
	}
	return zerr_set(err, -EINVAL, "\"%.64s\" is no strategy%s", text, znearest_format(&near, hint, sizeof(hint)));
}

/* Parses "native:1500 forward:2G". */
static int rates_take(void *rates, char *text, struct zerr *err)
{
	struct map_rates *r = rates;
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
	r->bandwidth_told |= !rc && spec_string(list.specs, "bandwidth") != NULL;
	r->forward_told |= !rc && spec_string(list.specs, "forward") != NULL;
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

int map_options_zippers(void *options, char *text, struct zerr *err)
{
	struct map_options *o = options;
	uint64_t n = !strcmp(text, "one");

	o->all_zippers = !strcmp(text, "all");
	if (!n && !o->all_zippers && strcmp(text, "job") != 0 &&
		(zargs_parse_u64(text, &n) || n < 1 || n > ZCTL_RAILS_MAX))
		return zerr_set(err, -EINVAL, "--zippers: job, all, or a number from 1 to %d", ZCTL_RAILS_MAX);
	o->rails = (uint32_t)n;
	return 0;
}

static int wish_take(const char **list, unsigned *n, const char *arg, struct zerr *err)
{
	if (*n == MAP_WISHES_MAX)
		return zerr_set(err, -EINVAL, "more than %d demands of a kind", MAP_WISHES_MAX);
	list[(*n)++] = arg;
	return 0;
}

static int need_take(void *wishes, char *text, struct zerr *err)
{
	struct map_wishes *w = wishes;

	return wish_take(w->need, &w->nneed, text, err);
}

static int pin_take(void *wishes, char *text, struct zerr *err)
{
	struct map_wishes *w = wishes;

	return wish_take(w->pin, &w->npin, text, err);
}

static int forbid_take(void *wishes, char *text, struct zerr *err)
{
	struct map_wishes *w = wishes;

	return wish_take(w->forbid, &w->nforbid, text, err);
}

static int routing_take(void *options, char *text, struct zerr *err)
{
	struct map_options *o = options;

	o->routing = routing_table_find(text);
	return o->routing ? 0 : zerr_set(err, -EINVAL, "\"%.64s\" is no routing", text);
}

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct map_options, member)
#define CALL(function) .type = ZARGS_CALL, .take = (function)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	MAP_OPTIONS_HOSTS,
	{.name = "clusters",
		FIELD(TEXT, clusters),
		HELP("N|N,N,...", "without a hostfile: N equal clusters, or clusters with these many ranks")},
	{.name = "graph",
		.letter = 'g',
		FIELD(TEXT, graph),
		HELP("FILE", "the communication graph: zipmap.graph(5), METIS or Matrix Market")},
	MAP_OPTIONS_PHASE,
	{.name = "output",
		.letter = 'o',
		FIELD(TEXT, output),
		HELP("FILE", "the map, zipper.map(5); default: only the prediction")},
	{.name = "strategy",
		.letter = 'S',
		CALL(strategy_take),
		HELP("NAME", "auto, pairs, block, edge-cut, vertex-cut, spread, fastest;\n"
			     "default auto; keep: only predicts the map of --improve")},
	{.name = "improve", FIELD(TEXT, improve), HELP("FILE", "start with this map")},
	{.name = "need",
		FIELD(CALL, wishes),
		.take = need_take,
		HELP("FEATURE:RANKS", "these ranks need nodes that have it, as gpu:0-15; may be repeated")},
	{.name = "pin",
		FIELD(CALL, wishes),
		.take = pin_take,
		HELP("RANKS:NODE", "these ranks run there; may be repeated")},
	{.name = "forbid",
		FIELD(CALL, wishes),
		.take = forbid_take,
		HELP("NODE,NODE", "no ranks there; may be repeated")},
	{.name = "busy", FIELD(TEXT, busy), HELP("NODES", "other jobs run there, as node[01-04,7]: no ranks there")},
	{.name = "busy-file",
		FIELD(TEXT, busy_file),
		HELP("FILE",
			"such nodes, one or a list in a line; behind it the number of busy cores,\nif not all are")},
	{.name = "reserve",
		FIELD(INT, reserve),
		.max = 1024,
		HELP("N", "cores of each zipper node that are kept for zipperd, where cores are\n"
			  "known; default: one for each direction")},
	{.name = "zippers",
		CALL(map_options_zippers),
		HELP("job|N|all", "zippers that forward: those that serve all clusters with ranks, as with\n"
				  "zmpirun (default); N of these; or all zippers")},
	{.name = "fabric",
		.letter = 'F',
		FIELD(TEXT, fabric),
		HELP("TEXT|FILE", "the networks, as zipmap model takes them: refines and predicts with the\nmodel")},
	{.name = "routing", .letter = 'r', CALL(routing_take), HELP("NAME", "of the model, default SD")},
	{.name = "rates",
		FIELD(CALL, rates),
		.take = rates_take,
		HELP("\"KEY:N ...\"", "for the time estimate: inside, native, direct, bridged (ns a message),\n"
				      "bandwidth, forward (bytes a second)")},
	{.name = "message-cost",
		FIELD(I64, message_cost),
		.max = UINT64_C(1) << 40,
		HELP("BYTES", "cost of a message beyond its bytes, for the search")},
	{.name = "list",
		FIELD(UNSIGNED, list),
		.max = 100000000,
		HELP("N", "number of crossing pairs that the map names, default 1000")},
	{.name = "effort",
		FIELD(UNSIGNED, effort),
		.min = 1,
		.max = 100,
		HELP("N", "length of the search, 1 to 100, default 1")},
	{.name = "seed", .letter = 's', FIELD(U64, seed), .max = UINT64_MAX, HELP("N", "default 1")},
	{.name = "threads",
		.letter = 't',
		FIELD(UNSIGNED, threads),
		.min = 1,
		.max = PAR_THREADS_MAX,
		HELP("N", "of predictions; the result does not depend on it")},
	{.name = "verbose", .letter = 'v', FIELD(FLAG, verbose), .help = "tell what the search finds"},
	{.name = "quiet", .letter = 'q', FIELD(FLAG, quiet), .help = "no table"},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipmap map",
	.usage = "zipmap [map] -f HOSTFILE|--clusters N -g GRAPH [-o FILE.map] [OPTION ...]\n"
		 "Decides which rank runs where, so that as little as possible has to go through zipperd.\n",
	.rows = rows,
};

int map_options_check_hosts(const struct map_options *o, struct zerr *err)
{
	if (!o->hosts && !o->clusters)
		return zerr_set(err, -EINVAL,
			"no nodes: give a hostfile (-f HOSTFILE) or a number of clusters (--clusters N)");
	if (o->hosts && o->clusters)
		return zerr_set(err, -EINVAL, "-f and --clusters both say which clusters there are");
	return 0;
}

static int options_check(struct map_options *o, struct zerr *err)
{
	if (map_options_check_hosts(o, err))
		return -EINVAL;
	if (!o->graph)
		return zerr_set(err, -EINVAL, "no communication graph: give one (-g GRAPH)");
	if (o->routing && !o->fabric)
		return zerr_set(err, -EINVAL, "--routing: in which network? (-F NETWORK)");
	if (o->strategy == MAP_KEEP && !o->improve)
		return zerr_set(err, -EINVAL, "keep which map? (--improve FILE.map)");
	if (o->improve && (o->strategy == MAP_PAIRS || o->strategy == MAP_BLOCK))
		return zerr_set(err, -EINVAL, "%s is a layout: there is nothing to improve in it",
			map_search_strategies[o->strategy]);
	if (!o->routing)
		o->routing = routing_table_find("SD");
	return 0;
}

void map_options_preset(struct map_options *o)
{
	*o = (struct map_options){.message_cost = -1,
		.phase = -1,
		.reserve = -1,
		.effort = 1,
		.list = 1000,
		.seed = 1,
		.threads = par_threads()};
	map_predict_default_rates(&o->rates);
}

int map_options_parse(struct map_options *o, int argc, char **argv, struct zerr *err)
{
	int rc;

	map_options_preset(o);
	rc = zargs_parse(&args, o, argc, argv, NULL, err);
	return rc ? rc : options_check(o, err);
}
