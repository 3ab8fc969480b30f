/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap time": reads a program, places its ranks, replays it, and prints how long it takes and why. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
#include "mapper/base/outfile.h"
#include "mapper/command/commands.h"
#include "mapper/command/model_map.h"
#include "mapper/command/model_options.h"
#include "mapper/draw/replay_report.h"
#include "mapper/model/job_placement.h"
#include "mapper/model/routing_table.h"
#include "mapper/net/topology.h"
#include "mapper/program/program_text.h"
#include "mapper/replay/replay.h"
#include "mapper/trace/otf2_program.h"
#include "mapper/trace/otf2_trace.h"

#define SECONDS_MAX 1e6
#define BANDWIDTH_MAX 1e18

struct arguments {
	const char *network, *map, *hosts, *csv;
	const struct job_placement *placement;
	struct replay_opts replay;
	unsigned top;
};

static int placement_take(void *field, char *name, struct zerr *err)
{
	const struct job_placement *found = job_placement_find(name);

	memcpy(field, &found, sizeof(found));
	return found ? 0 : zerr_set(err, -EINVAL, "\"%.64s\" is no placement", name);
}

static int routing_take(void *field, char *name, struct zerr *err)
{
	const struct routing *found = routing_table_find(name);

	memcpy(field, &found, sizeof(found));
	return found ? 0 : zerr_set(err, -EINVAL, "\"%.64s\" is no routing", name);
}

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct arguments, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "network",
		.letter = 'n',
		FIELD(TEXT, network),
		HELP("TEXT|PRESET|FILE", "topology and keys, as with zipmap model"),
		.list = model_options_list_networks},
	{.name = "placement",
		.letter = 'p',
		FIELD(CALL, placement),
		.take = placement_take,
		HELP("NAME", "default LIN"),
		.list = model_options_list_placements},
	{.name = "map", .letter = 'm', FIELD(TEXT, map), HELP("FILE", "instead: lines \"RANK NODE\"")},
	{.name = "hosts",
		.letter = 'f',
		FIELD(TEXT, hosts),
		HELP("FILE", "the map is one of zipmap map, for this hostfile")},
	{.name = "routing",
		.letter = 'r',
		FIELD(CALL, replay.routing),
		.take = routing_take,
		HELP("NAME", "default SD"),
		.list = model_options_list_routings},
	{.name = "latency",
		FIELD(REAL, replay.latency),
		.high = SECONDS_MAX,
		HELP("SECONDS", "of a message between nodes, default 1e-6")},
	{.name = "hop",
		FIELD(REAL, replay.hop),
		.high = SECONDS_MAX,
		HELP("SECONDS", "more for each link on the way, default 0")},
	{.name = "overhead",
		FIELD(REAL, replay.overhead),
		.high = SECONDS_MAX,
		HELP("SECONDS", "of a rank for each message, at either end, default 5e-7")},
	{.name = "per-byte",
		FIELD(REAL, replay.per_byte),
		.high = SECONDS_MAX,
		HELP("SECONDS", "more for each byte, default 0")},
	{.name = "eager",
		FIELD(U64, replay.eager),
		.max = UINT64_C(1) << 52,
		HELP("BYTES", "longer messages wait for the receiver, default 32K")},
	{.name = "node-bandwidth",
		FIELD(REAL, replay.node_bandwidth),
		.high = BANDWIDTH_MAX,
		HELP("N", "bytes a second out of a node, and into it; default 0: no limit\nbut the network's")},
	{.name = "local-bandwidth",
		FIELD(REAL, replay.local_bandwidth),
		.high = BANDWIDTH_MAX,
		HELP("N", "bytes a second of a message inside a node, default 1e10; 0: no limit")},
	{.name = "compute",
		FIELD(REAL, replay.compute),
		.high = SECONDS_MAX,
		HELP("FACTOR", "of the times of computing, default 1; 0: messages alone")},
	{.name = "tolerance",
		FIELD(REAL, replay.tolerance),
		.high = 0.1,
		HELP("X", "share of its time by which a message may end too early or late, default 0.01")},
	{.name = "paths",
		FIELD(UNSIGNED, replay.model.paths),
		.min = 1,
		.max = ROUTING_PATHS_MAX,
		HELP("N", "random paths of a message, default 4")},
	{.name = "direct-paths",
		FIELD(UNSIGNED, replay.model.direct_paths),
		.max = ROUTING_PATHS_MAX,
		HELP("N", "direct ones among them with AH and AL, default 2")},
	{.name = "seed",
		.letter = 's',
		FIELD(U64, replay.model.seed),
		.max = UINT64_MAX,
		HELP("N", "of placements and paths, default 1")},
	{.name = "top", FIELD(UNSIGNED, top), .max = 1000000, HELP("N", "causes to print for each phase, default 3")},
	{.name = "csv", FIELD(TEXT, csv), HELP("FILE", "the phases, in seconds")},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipmap time",
	.usage = "zipmap time -n NETWORK [-p PLACEMENT | -m MAP [-f HOSTFILE]] [-r ROUTING] [OPTION ...] PROGRAM\n"
		 "Says how long the messages of a program take: an OTF2 trace (NAME.otf2), or a text.\n",
	.operands = "PROGRAM",
	.least = 1,
	.most = 1,
	.rows = rows,
};

static int options_check(struct arguments *a, struct zerr *err)
{
	if (!a->network)
		return zerr_set(err, -EINVAL, "no network: give one (-n)");
	if (a->map && a->placement)
		return zerr_set(err, -EINVAL, "a map, or a placement, not both");
	if (a->hosts && !a->map)
		return zerr_set(err, -EINVAL, "--hosts needs a map: give one (-m)");
	return model_options_check_direct(&a->replay.model, err);
}

static int ranks_fit(const struct net *net, uint32_t ranks, struct zerr *err)
{
	if (ranks <= (uint64_t)net->nodes * net->cores)
		return 0;
	return zerr_set(err, -ENOSPC, "%u ranks do not fit on %u nodes of %u cores", ranks, net->nodes, net->cores);
}

/* The same, before the operations of a program are read. */
static int ranks_check(void *net, uint32_t ranks, struct zerr *err)
{
	return ranks_fit(net, ranks, err);
}

/* Puts ranks on nodes, in the order of a placement: as many on each as it has cores. */
static int ranks_order(const struct arguments *a, const struct net *net, uint32_t ranks, struct replay_place *place,
	struct zerr *err)
{
	const struct job_placement *by = a->placement ? a->placement : job_placement_find("LIN");
	int rc = ranks_fit(net, ranks, err);
	uint32_t *order;

	if (rc)
		return rc;
	order = malloc(((size_t)net->nodes + 1) * sizeof(*order));
	if (!order)
		return zerr_set(err, -ENOMEM, "not enough memory");
	by->order(by, net, a->replay.model.seed, order);
	for (uint32_t i = 0; i < ranks; i++)
		place[i].node = order[i / net->cores];
	for (uint32_t i = 0; i < ranks; i++)
		place[i].point = net->ops->point(net, place[i].node);
	free(order);
	return 0;
}

static int ranks_map(const struct arguments *a, struct net *net, uint32_t ranks, struct replay_place *place,
	struct zerr *err)
{
	uint32_t *point = malloc(2 * (size_t)ranks * sizeof(*point));
	int rc = point ? model_map_read(net, a->map, a->hosts, ranks, point, point + ranks, err)
		       : zerr_set(err, -ENOMEM, "not enough memory");

	for (uint32_t i = 0; i < ranks && !rc; i++)
		place[i] = (struct replay_place){point[ranks + i], point[i]};
	free(point);
	return rc;
}

static int report(const struct arguments *a, const struct program *p, const struct net *net,
	const struct replay_result *r, struct zerr *err)
{
	struct outfile csv;
	int rc = a->csv ? outfile_open(&csv, a->csv, err) : 0;

	if (rc)
		return rc;
	replay_report_print(stdout, p, net, r, a->top);
	if (a->csv) {
		replay_report_csv(csv.f, p, net, r);
		rc = outfile_close(&csv, 0, err);
	}
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = zerr_set(err, -EIO, "standard output: cannot be written");
	if (!rc && r->unreceived)
		zerr_print("zipmap time: warning: %" PRIu64 " message%s never received\n", r->unreceived,
			r->unreceived == 1 ? " is" : "s are");
	return rc;
}

static int program_run(const struct arguments *a, const char *path, struct zerr *err)
{
	struct replay_place *place = NULL;
	struct replay_result result = {0};
	struct program p = {0};
	struct net *net = NULL;
	int rc = topology_create(a->network, &net, err);

	if (!rc && otf2_trace_is(path))
		rc = otf2_program_read(&p, path, err);
	else if (!rc) /* the hosts of a hostfile have numbers of cores of their own */
		rc = program_text_read(&p, path, a->hosts ? NULL : ranks_check, net, err);
	if (!rc && !(place = malloc(p.ranks * sizeof(*place))))
		rc = zerr_set(err, -ENOMEM, "not enough memory");
	if (!rc)
		rc = a->map ? ranks_map(a, net, p.ranks, place, err) : ranks_order(a, net, p.ranks, place, err);
	if (!rc)
		rc = replay_run(&p, net, place, &a->replay, &result, err);
	if (!rc)
		rc = report(a, &p, net, &result, err);
	replay_result_free(&result);
	free(place);
	program_free(&p);
	net_destroy(net);
	return rc;
}

int time_command(int argc, char **argv)
{
	struct arguments a = {.top = 3};
	struct zerr err = {""};
	int first, rc;

	replay_defaults(&a.replay);
	model_options_leave_direct(&a.replay.model);
	rc = zargs_parse(&args, &a, argc, argv, &first, &err);
	if (rc > 0)
		return 0;
	if (!rc)
		rc = options_check(&a, &err);
	if (rc)
		return zargs_refuse(&args, &err);
	rc = program_run(&a, argv[first], &err);
	if (rc)
		zerr_print("zipmap time: %s\n", err.text);
	return rc ? 1 : 0;
}
