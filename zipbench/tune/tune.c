/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "zipbench tune" measures collectives of several sizes and layouts with each setting of zipper.tuning(5), and writes a
 * tuning table of the settings that are faster than the defaults. One setting at a time; jobs take turns.
 */
#include "zipbench/tune/tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/args/args.h"
#include "zipbench/tune/tune_table.h"
#include "zipbench/tune/tune_tries.h"
#include "zipbench/tune/tune_want.h"

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct tune_options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "output", FIELD(TEXT, output), HELP("FILE", "writes the table there; default: standard output")},
	{.name = "layouts", FIELD(TEXT, layouts), HELP("LIST", "for {} in COMMAND; default 2+2,4+4,2+2+2")},
	{.name = "sizes", FIELD(TEXT, sizes), HELP("LIST", "bytes; default 1K,16K,128K,1M,4M")},
	{.name = "try", FIELD(TEXT, tries), HELP("RULES", "candidates, as \"bcast segment=64K; all leaders=2\"")},
	{.name = "bridge", FIELD(FLAG, bridge), .help = "measures the bridge alone, in some seconds"},
	{.name = "seconds",
		FIELD(REAL, seconds),
		.low = 0,
		.high = 1e6,
		HELP("S", "for each operation and size of a job; default 0.05")},
	{.name = "rounds",
		FIELD(UNSIGNED, rounds),
		.min = 1,
		.max = TUNE_ROUNDS_MAX,
		HELP("N", "jobs of each kind; default 3")},
	{.name = "margin",
		FIELD(REAL, margin),
		.low = -1e9,
		.high = 100,
		HELP("%", "how much faster than the default; default 5")},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipbench tune",
	.usage = "zipbench tune [OPTION ...] [-- COMMAND ...]\n"
		 "Writes a tuning table. COMMAND starts a merged job, as zmpirun --clusters {}.\n",
	.rows = rows,
};

static const char default_tries[] =
	"all segment=32K; all segment=512K; all leaders=1; all leaders=2; all leaders=4; all inside=native;"
	"all inside=gather; all depth=1; all depth=4; all depth=16;"
	"allreduce exchange=all; allreduce exchange=doubling; allreduce exchange=slices;"
	"all between=tree; all between=chain; all between=pipeline; all multicast=yes; all multicast=no;"
	"alltoall aggregate=0; alltoall aggregate=1K; alltoall aggregate=8K; alltoall window=1; alltoall window=16;"
	"all segments=256; all alone=0; all alone=4K; all alone=64K; all alone=1M; scatter together=0;"
	"scatter together=64K";

#define PINGPONG "8,4M,16M"
static const double bulk_bytes[2] = {4 << 20, 16 << 20};

struct sink {
	struct tune *b;
	int candidate;
};

static void keep_less(double *least, double us)
{
	if (*least == 0 || us < *least)
		*least = us;
}

static void take_line(void *ctx, const char *op, double bytes, int ranks, double us)
{
	struct sink *s = ctx;
	s->b->ranks = ranks;
	if (strcmp(op, "pingpong") == 0)
		keep_less(bytes < bulk_bytes[0] ? &s->b->latency_us : &s->b->bulk_us[bytes > bulk_bytes[0]], us);
	for (size_t t = 0; t < TUNE_TARGETS; t++)
		for (int i = 0; i < 2 * s->b->nsizes; i++) {
			const char *name = tune_targets[t].op[i / s->b->nsizes];
			struct tune_samples *v = &s->b->samples[s->candidate][t][i];
			if (name && strcmp(op, name) == 0 && bytes == s->b->size[i % s->b->nsizes] &&
				v->n < TUNE_ROUNDS_MAX)
				v->us[v->n++] = us;
		}
}

/* Lists the operations and sizes that are to be measured with this candidate. */
static void list_wanted(const struct tune *b, int candidate, char ops[256], char sizes[1024])
{
	bool wanted[TUNE_SIZES_MAX] = {false};
	ops[0] = sizes[0] = 0;
	for (size_t t = 0; t < TUNE_TARGETS; t++)
		for (int o = 0; o < 2; o++) {
			bool any = false;
			for (int i = 0; i < b->nsizes; i++) {
				const bool is = b->samples[candidate][t][o * b->nsizes + i].wanted;
				wanted[i] |= is;
				any |= is;
			}
			if (any)
				snprintf(ops + strlen(ops), 256 - strlen(ops), "%s%s", ops[0] ? "," : "",
					tune_targets[t].op[o]);
		}
	for (int i = 0; i < b->nsizes; i++)
		if (wanted[i])
			snprintf(sizes + strlen(sizes), 1024 - strlen(sizes), "%s%.0f", sizes[0] ? "," : "",
				b->size[i]);
}

static int measure(struct tune *b, const char *layout, int candidate, struct zerr *err)
{
	const struct tune_candidate *c = &b->candidate[candidate];
	char ops[256], sizes[1024], seconds[32], rules[256];
	list_wanted(b, candidate, ops, sizes);
	if (!ops[0])
		return 0;
	snprintf(seconds, sizeof(seconds), "%g", b->o.seconds);
	snprintf(rules, sizeof(rules), "%s; %s", b->bridge, c->rules); /* the defaults also depend on the bridge */
	struct tune_job j = {.command = b->command,
		.layout = layout,
		.program = b->program,
		.rules = rules,
		.ops = ops,
		.sizes = sizes,
		.seconds = seconds};
	return tune_run(&j, take_line, &(struct sink){b, candidate}, err);
}

static int measure_bridge(struct tune *b, const char *layout, struct zerr *err)
{
	struct tune_job j = {.command = b->command,
		.layout = layout,
		.program = b->program,
		.rules = "",
		.ops = "pingpong",
		.sizes = PINGPONG,
		.seconds = "0.3"};
	return tune_run(&j, take_line, &(struct sink){b, 0}, err);
}

static int tune_layout(struct tune *b, int layout, struct zerr *err)
{
	memset(b->samples, 0, (size_t)b->ncandidates * sizeof(*b->samples));
	int rc = tune_want(b, layout, err);
	for (unsigned round = 0; round < b->o.rounds && rc == 0; round++)
		for (int c = 0; c < b->ncandidates && rc == 0; c++)
			rc = measure(b, b->layout[layout], c, err);
	if (rc == 0)
		tune_table_write(b, layout);
	return rc;
}

static int write_head(struct tune *b, struct zerr *err)
{
	int rc = 0;
	for (unsigned round = 0; round < b->o.rounds && rc == 0; round++)
		rc = measure_bridge(b, b->layout[0], err);
	if (rc < 0)
		return rc;
	if (b->latency_us == 0 || b->bulk_us[0] == 0 || b->bulk_us[1] == 0)
		return zerr_set(err, -EPROTO, "the command printed no times of a ping-pong");
	fputs("# zipper.tuning(5), written by zipbench tune. Behind each rule: medians with it, and (with the "
	      "defaults).\n",
		b->out);
	/* The larger message takes longer only because of its bytes, however long the bridge is. */
	double us = b->bulk_us[1] - b->bulk_us[0], bytes = bulk_bytes[1] - bulk_bytes[0];
	if (us <= 0) { /* on a busy machine */
		us = b->bulk_us[1];
		bytes = bulk_bytes[1];
	}
	snprintf(b->bridge, sizeof(b->bridge), "bridge latency_ns=%.0f bandwidth=%.0f", b->latency_us / 2 * 1e3,
		bytes / (us / 2 * 1e-6));
	fprintf(b->out, "%s\n", b->bridge);
	return 0;
}

/* Writes beside an existing file, which stays until the table is whole, but straight into a terminal or a pipe. */
static int open_table(struct tune *b, struct zerr *err)
{
	struct stat st;
	const char *name = b->o.output;
	if (!name) {
		b->out = stdout;
		return 0;
	}
	b->path = realpath(name, NULL);
	if (!b->path && !(b->path = strdup(name)))
		return zerr_set(err, -ENOMEM, "no memory");
	bool there = stat(b->path, &st) == 0;
	if ((!there || S_ISREG(st.st_mode)) && asprintf(&b->beside, "%s.new", b->path) < 0)
		return zerr_set(err, -ENOMEM, "no memory");
	b->out = fopen(b->beside ? b->beside : b->path, "we");
	if (b->out && b->beside && there) /* a failure does not matter: the file system has no permissions */
		(void)!fchmod(fileno(b->out), st.st_mode & 0777);
	return b->out ? 0 : zerr_set(err, -errno, "%s: %s", b->beside ? b->beside : b->path, strerror(errno));
}

static int close_table(struct tune *b, int rc, struct zerr *err)
{
	bool bad = fflush(b->out) != 0 || ferror(b->out);
	if (b->out != stdout)
		bad = fclose(b->out) != 0 || bad;
	if (bad && rc == 0)
		rc = zerr_set(err, -EIO, "the table cannot be written");
	if (b->beside && rc == 0 && rename(b->beside, b->path) != 0)
		rc = zerr_set(err, -errno, "%s: %s", b->path, strerror(errno));
	if (b->beside && rc != 0)
		unlink(b->beside);
	return rc;
}

static int run(struct tune *b, struct zerr *err)
{
	int rc = tune_tries_choose(b, err);
	if (rc < 0)
		return rc;
	b->samples = calloc((size_t)b->ncandidates, sizeof(*b->samples));
	if (!b->samples)
		return zerr_set(err, -ENOMEM, "no memory");
	rc = open_table(b, err);
	if (rc < 0)
		return rc;
	rc = write_head(b, err);
	for (int l = 0; l < b->nlayouts && rc == 0 && !b->o.bridge; l++)
		rc = tune_layout(b, l, err);
	if (rc == 0 && b->rules_written == 0 && !b->o.bridge)
		fputs("# nothing was faster than the defaults\n", b->out);
	return close_table(b, rc, err);
}

int tune_main(int argc, char **argv)
{
	struct zerr err = {.text = ""};
	struct tune b = {.o = {.layouts = "2+2,4+4,2+2+2",
				 .sizes = "1K,16K,128K,1M,4M",
				 .tries = default_tries,
				 .seconds = 0.05,
				 .rounds = 3,
				 .margin = 5}};
	char zmpirun[BENCH_PATH_MAX];
	char *by_default[] = {zmpirun, (char[]){"--clusters"}, (char[]){"{}"}, NULL};
	int own = 1;
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	int status;
	if (!zargs_read(&args, &b.o, own, argv, NULL, &status))
		return status;
	bench_program(b.program, "coll");
	bench_zmpirun(zmpirun);
	b.command = own + 1 < argc ? argv + own + 1 : by_default;
	const char *shared = getenv("ZIPPER_SHARED");
	b.shares = b.command == by_default && (!shared || strcmp(shared, "no") != 0);
	int rc = run(&b, &err);
	free(b.samples);
	free(b.path);
	free(b.beside);
	return rc < 0 ? bench_fail(argv[0], &err) : 0;
}
