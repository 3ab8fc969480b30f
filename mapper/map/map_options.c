/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the command line of "zipmap map". */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/args.h"
#include "common/control/ctl.h"
#include "mapper/map/map_options.h"
#include "common/config/nearest.h"
#include "mapper/base/par.h"
#include "mapper/model/routing_table.h"
#include "mapper/base/spec.h"

static void help_print(void)
{
	puts("usage: zipmap [map] -f HOSTFILE -g GRAPH [-o FILE.map] [OPTION ...]\n"
	     "Decides which rank runs where, so that as little as possible has to go through zipperd.\n"
	     "  -f, --hosts FILE           clusters, nodes and zippers, zipper.hosts(5)\n"
	     "  -g, --graph FILE           the communication graph: zipmap.graph(5), METIS or Matrix Market\n"
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
	     "                             default: one for each direction\n"
	     "      --zippers job|N|all    zippers that forward: those that serve all clusters with ranks, as with\n"
	     "                             zmpirun (default); N of these; or all zippers\n"
	     "  -F, --fabric TEXT|FILE     the networks, as zipmap model takes them: refines and predicts with the "
	     "model\n"
	     "  -r, --routing NAME         of the model, default SD\n"
	     "      --rates \"KEY:N ...\"    for the time estimate: inside, native, direct, bridged (ns a message),\n"
	     "                             bandwidth, forward (bytes a second)\n"
	     "      --message-cost BYTES   cost of a message beyond its bytes, for the search\n"
	     "      --list N               number of crossing pairs that the map names, default 1000\n"
	     "      --effort N             length of the search, 1 to 100, default 1\n"
	     "  -s, --seed N               default 1\n"
	     "  -t, --threads N            of predictions; the result does not depend on it\n"
	     "  -v, --verbose              tell what the search finds\n"
	     "  -q, --quiet                no table");
}

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
static const struct zargs_row rows[] = {
	{.name = "hosts", .letter = 'f', FIELD(TEXT, hosts)},
	{.name = "graph", .letter = 'g', FIELD(TEXT, graph)},
	{.name = "fabric", .letter = 'F', FIELD(TEXT, fabric)},
	{.name = "routing", .letter = 'r', CALL(routing_take)},
	{.name = "strategy", .letter = 'S', CALL(strategy_take)},
	{.name = "output", .letter = 'o', FIELD(TEXT, output)},
	{.name = "improve", FIELD(TEXT, improve)},
	{.name = "need", FIELD(CALL, wishes), .take = need_take},
	{.name = "pin", FIELD(CALL, wishes), .take = pin_take},
	{.name = "forbid", FIELD(CALL, wishes), .take = forbid_take},
	{.name = "reserve", FIELD(INT, reserve), .max = 1024},
	{.name = "rates", FIELD(CALL, rates), .take = rates_take},
	{.name = "message-cost", FIELD(I64, message_cost), .max = UINT64_C(1) << 40},
	{.name = "phase", FIELD(I64, phase), .min = 1, .max = INT32_MAX},
	{.name = "effort", FIELD(UNSIGNED, effort), .min = 1, .max = 100},
	{.name = "list", FIELD(UNSIGNED, list), .max = 100000000},
	{.name = "zippers", CALL(map_options_zippers)},
	{.name = "seed", .letter = 's', FIELD(U64, seed), .max = UINT64_MAX},
	{.name = "threads", .letter = 't', FIELD(UNSIGNED, threads), .min = 1, .max = PAR_THREADS_MAX},
	{.name = "quiet", .letter = 'q', FIELD(FLAG, quiet)},
	{.name = "verbose", .letter = 'v', FIELD(FLAG, verbose)},
	{.name = NULL},
};

static int options_check(struct map_options *o, struct zerr *err)
{
	if (!o->hosts)
		return zerr_set(err, -EINVAL, "no nodes: give a hostfile (-f HOSTFILE)");
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

int map_options_parse(struct map_options *o, int argc, char **argv, struct zerr *err)
{
	int rc;

	*o = (struct map_options){.message_cost = -1,
		.phase = -1,
		.reserve = -1,
		.effort = 1,
		.list = 1000,
		.seed = 1,
		.threads = par_threads()};
	map_predict_default_rates(&o->rates);
	rc = zargs_parse(rows, o, argc, argv, NULL, err);
	if (rc > 0)
		help_print();
	return rc ? rc : options_check(o, err);
}
