/* SPDX-License-Identifier: BSD-3-Clause */
/* The command lines of "zipbench lat" and its kin, and the loop over rounds and ways; see p2p.h. */
#include "zipbench/p2p/p2p.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
#include "zipbench/base/bench.h"
#include "zipbench/p2p/p2p_job.h"
#include "zipbench/p2p/p2p_plan.h"
#include "zipbench/p2p/p2p_results.h"
#include "zipbench/p2p/p2p_ways.h"

#define ROUNDS_MAX 999

struct options {
	struct p2p_plan plan; /* the first one, see P2P_PLAN_ROWS */
	struct p2p_where where;
	const char *csv, *plot;
	unsigned rounds;
};

static int take_added(void *field, char *value, struct zerr *err)
{
	struct p2p_added *a = field;
	const size_t len = strcspn(value, "=");
	if (len == 0 || len >= P2P_WAY_NAME_MAX || strcspn(value, ", ") < len)
		return zerr_set(err, -EINVAL, "--add: \"%.64s\" has no name of at most %d letters before a '='", value,
			P2P_WAY_NAME_MAX - 1);
	if (value[len + strspn(value + len, "= \t")] == 0)
		return zerr_set(err, -EINVAL, "--add: \"%.64s\" has no command", value);
	if (a->n == P2P_WAYS_MAX)
		return zerr_set(err, -EINVAL, "--add: more than %d ways", P2P_WAYS_MAX);
	a->text[a->n++] = value;
	return 0;
}

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "hostfile",
		.letter = 'f',
		FIELD(TEXT, where.hostfile),
		HELP("FILE", "zipper hostfile of the clusters")},
	{.name = "hosts",
		FIELD(TEXT, where.hosts),
		HELP("A,B", "its hosts to use; default: the first of the first and of the last cluster")},
	{.name = "clusters",
		FIELD(TEXT, where.clusters),
		HELP("LAYOUT", "clusters on this machine, if there is no hostfile; default 1+1, or as many as pairs")},
	{.name = "ways",
		FIELD(TEXT, where.ways),
		HELP("LIST", "out of native, bridged, direct and those of --add; default: all")},
	{.name = "add",
		.type = ZARGS_CALL,
		.offset = offsetof(struct options, where.added),
		.take = take_added,
		HELP("NAME=COMMAND", "one more way: COMMAND starts the ranks of the program behind it")},
	P2P_PLAN_ROWS,
	{.name = "rounds",
		FIELD(UNSIGNED, rounds),
		.min = 1,
		.max = ROUNDS_MAX,
		HELP("N", "jobs of each way, in turns, of which medians are printed; default 1")},
	{.name = "csv", FIELD(TEXT, csv), HELP("FILE", "writes the results there, too")},
	{.name = "plot", FIELD(TEXT, plot), HELP("BASE", "draws them with gnuplot, as BASE.svg and BASE.png")},
	{.name = NULL},
};

static int check(const struct options *o, struct zerr *err)
{
	if (o->where.hostfile && o->where.clusters)
		return zerr_set(err, -EINVAL, "--clusters: there is a hostfile, too");
	if (o->where.hosts && !o->where.hostfile)
		return zerr_set(err, -EINVAL, "--hosts: there is no hostfile");
	return 0;
}

struct sink {
	struct p2p_results *results;
	unsigned way;
};

static void take_line(void *ctx, uint64_t bytes, const double value[P2P_QUANTITIES_MAX])
{
	const struct sink *s = ctx;
	p2p_results_put(s->results, s->way, bytes, value);
}

/* All rounds. A way that fails is not tried again. The number of ways that failed. */
static int measure(struct p2p_results *r, const char *program, const char *name)
{
	bool over[P2P_WAYS_MAX] = {false};
	int failed = 0;
	for (unsigned round = 0; round < r->rounds; round++)
		for (unsigned w = 0; w < r->ways->n; w++) {
			struct zerr err = {""};
			struct sink sink = {r, w};
			int rc = over[w] ? 0
					 : p2p_job_run(&r->ways->way[w], program, r->bench, r->plan, take_line, &sink,
						   &err);
			if (rc == 0)
				continue;
			fprintf(stderr, "%s: %s\n", name, err.text);
			over[w] = true;
			failed += rc != -ENOENT;
			p2p_results_drop(r, w);
		}
	return failed;
}

/* Opened before anything is measured: a name that is wrong costs no time. */
static FILE *open_csv(const char *path, struct zerr *err)
{
	FILE *f = fopen(path, "we");
	if (!f)
		zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	return f;
}

static int close_csv(FILE *f, const char *path, const struct p2p_results *r, struct zerr *err)
{
	p2p_results_write_csv(r, f);
	if (ferror(f) | fclose(f))
		return zerr_set(err, -EIO, "%s: cannot be written", path);
	return 0;
}

/* The base without the ending of a picture, which a user may have written. */
static int draw(const struct p2p_results *r, const char *plot, struct zerr *err)
{
	char base[BENCH_PATH_MAX];
	const size_t len = strlen(plot);
	const bool ends = len > 4 && (strcmp(plot + len - 4, ".png") == 0 || strcmp(plot + len - 4, ".svg") == 0);
	snprintf(base, sizeof(base), "%.*s", (int)(ends ? len - 4 : len), plot);
	return p2p_results_draw(r, base, err);
}

static int run(struct options *o, const struct p2p_bench *b, struct p2p_ways *ways, const char *name, struct zerr *err)
{
	char program[BENCH_PATH_MAX];
	struct p2p_results results;
	FILE *csv = o->csv ? open_csv(o->csv, err) : NULL;
	if (o->csv && !csv)
		return -EIO;
	bench_program(program, "p2p");
	int rc = p2p_results_init(&results, b, &o->plan, ways, o->rounds);
	if (rc < 0)
		zerr_set(err, rc, "no memory");
	int failed = rc < 0 ? 0 : measure(&results, program, name);
	if (rc == 0)
		p2p_results_print(&results, stdout);
	if (rc == 0 && fflush(stdout) != 0)
		rc = zerr_set(err, -EIO, "the results cannot be written");
	if (csv && rc == 0)
		rc = close_csv(csv, o->csv, &results, err);
	else if (csv)
		fclose(csv);
	if (rc == 0 && o->plot)
		rc = draw(&results, o->plot, err);
	p2p_results_free(&results);
	return rc < 0 ? rc : failed;
}

int p2p_main(int argc, char **argv)
{
	const struct p2p_bench *b = p2p_bench_find(argv[0]);
	char name[64], usage[256], zmpirun[BENCH_PATH_MAX];
	snprintf(name, sizeof(name), "zipbench %s", b->name);
	snprintf(usage, sizeof(usage), "%s [OPTION ...]\n%s.\n", name, b->help);
	const struct zargs args = {.program = name, .usage = usage, .rows = rows};
	struct options o = {.plan = P2P_PLAN_DEFAULTS, .rounds = 1};
	struct zerr err = {""};
	struct p2p_ways ways = {.n = 0};
	int status;
	if (!zargs_read(&args, &o, argc, argv, NULL, &status))
		return status;
	if (p2p_plan_check(&o.plan, b, &err) < 0 || check(&o, &err) < 0)
		return zargs_refuse(&args, &err);
	bench_zmpirun(zmpirun);
	o.where.zmpirun = zmpirun;
	o.where.pairs = o.plan.pairs;
	if (p2p_ways_init(&ways, &o.where, name, &err) < 0) {
		p2p_ways_free(&ways);
		return zargs_refuse(&args, &err);
	}
	int rc = run(&o, b, &ways, name, &err);
	p2p_ways_free(&ways);
	if (rc < 0)
		return bench_fail(argv[0], &err);
	return rc ? EXIT_FAILURE : 0;
}
