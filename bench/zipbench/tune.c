/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "zipbench tune": measures what the settings of zipper.tuning(5) do to collectives of several sizes and layouts, and
 * writes a tuning table with those that are faster than the defaults. One setting at a time; jobs take turns.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "tune_run.h"
#include "tuning.h"
#include "zipbench.h"

#define CANDIDATES_MAX 64
#define LAYOUTS_MAX 16
#define ROUNDS_MAX 99

struct options {
	const char *layouts, *sizes, *tries, *output;
	double seconds, margin;
	unsigned rounds;
	bool bridge;
};

static const struct arg args[] = {
#define AT(field) offsetof(struct options, field)
	{"output", "FILE", ARG_TEXT, 0, 0, AT(output), NULL, "writes the table there; default: standard output"},
	{"layouts", "LIST", ARG_TEXT, 0, 0, AT(layouts), NULL, "for {} in COMMAND; default 2+2,4+4,2+2+2"},
	{"sizes", "LIST", ARG_TEXT, 0, 0, AT(sizes), NULL, "bytes; default 1K,16K,128K,1M,4M"},
	{"try", "RULES", ARG_TEXT, 0, 0, AT(tries), NULL, "candidates, as \"bcast segment=64K; all leaders=2\""},
	{"bridge", NULL, ARG_FLAG, 0, 0, AT(bridge), NULL, "measures the bridge alone, in some seconds"},
	{"seconds", "S", ARG_REAL, 0, 1e6, AT(seconds), NULL, "for each operation and size of a job; default 0.05"},
	{"rounds", "N", ARG_NUMBER, 1, ROUNDS_MAX, AT(rounds), NULL, "jobs of each kind; default 3"},
	{"margin", "%", ARG_REAL, -1e9, 100, AT(margin), NULL, "how much faster than the default; default 5"},
#undef AT
};

static const char default_tries[] =
	"all segment=32K; all segment=512K; all leaders=1; all leaders=2; all leaders=4; all inside=native;"
	"all inside=gather;"
	"allreduce exchange=all; allreduce exchange=doubling; allreduce exchange=slices;"
	"bcast between=tree; bcast between=chain; bcast between=pipeline; all multicast=yes; all multicast=no;"
	"alltoall aggregate=0; alltoall aggregate=1K; alltoall aggregate=8K; alltoall window=1; alltoall window=16";

/* Collectives whose choices depend on a size that all ranks know, so not gather and scatter. What the table calls bytes
 * is the size of zipbench coll, or that of all ranks together. */
static const struct target {
	const char *name;
	bool times_ranks;
} targets[] = {{"bcast", false}, {"reduce", false}, {"allreduce", false}, {"alltoall", false}, {"allgather", true},
	{"reduce_scatter", true}, {"scan", false}};
#define TARGETS (sizeof(targets) / sizeof(targets[0]))

struct candidate {		     /* [0]: the defaults */
	char rules[128];	     /* "all leaders=2"; "" */
	char setting[32], value[32]; /* "leaders", "2" */
	bool concerns[TARGETS];
};

struct samples {
	double us[ROUNDS_MAX];
	unsigned n;
};

struct bench {
	struct options o;
	char **command;
	char program[4096];
	struct candidate candidate[CANDIDATES_MAX];
	int ncandidates;
	char *layout[LAYOUTS_MAX];
	int nlayouts;
	double size[TUNE_SIZES_MAX];
	int nsizes, ranks;
	struct samples (*samples)[TARGETS][TUNE_SIZES_MAX]; /* [ncandidates] of this layout */
	double latency_us, bulk_us[2];			    /* of a ping-pong: medians of the best job, 0: none yet */
	char bridge[80];				    /* that as a line of the table, or "" */
	FILE *out;
	int rules_written;
};

#define PINGPONG "8,4M,16M"
static const double bulk_bytes[2] = {4 << 20, 16 << 20};

/* --- what there is to try --- */

/* Whether the collective has the setting: the table itself says so. */
static bool has_setting(const char *collective, const char *setting)
{
	struct ztuning table;
	struct zerr err;
	char rule[256];
	snprintf(rule, sizeof(rule), "%s %s", collective, setting);
	bool has = ztuning_init(&table, &err) == 0 && ztuning_set(&table, rule, "", &err) == 0;
	ztuning_free(&table);
	return has;
}

static int add_candidate(struct bench *b, const char *rule, struct zerr *err)
{
	struct candidate c = {.rules = ""};
	char collective[32], extra;
	bool any = false;
	if (sscanf(rule, " %31s %31[^= ]=%31s %c", collective, c.setting, c.value, &extra) != 3)
		return zerr_set(err, -EINVAL, "--try: '%.80s' is not of the form COLLECTIVE SETTING=VALUE", rule);
	snprintf(c.rules, sizeof(c.rules), "%s %s=%s", collective, c.setting, c.value);
	for (size_t t = 0; t < TARGETS; t++) {
		char setting[80];
		snprintf(setting, sizeof(setting), "%s=%s", c.setting, c.value);
		c.concerns[t] = (strcmp(collective, "all") == 0 || strcmp(collective, targets[t].name) == 0) &&
				has_setting(targets[t].name, setting);
		any |= c.concerns[t];
	}
	if (!any)
		return zerr_set(err, -EINVAL, "--try: '%s': no collective that can be tuned has this setting", c.rules);
	if (b->ncandidates == CANDIDATES_MAX)
		return zerr_set(err, -E2BIG, "--try: more than %d candidates", CANDIDATES_MAX - 1);
	b->candidate[b->ncandidates++] = c;
	for (size_t t = 0; t < TARGETS; t++) /* the defaults are measured wherever something is compared with them */
		b->candidate[0].concerns[t] |= c.concerns[t];
	return 0;
}

static int choose_candidates(struct bench *b, struct zerr *err)
{
	char *list = strdup(b->o.tries), *save = NULL;
	int rc = list ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	b->ncandidates = 1;
	for (char *rule = list ? strtok_r(list, ";", &save) : NULL; rule && rc == 0; rule = strtok_r(NULL, ";", &save))
		rc = add_candidate(b, rule, err);
	free(list);
	return rc == 0 && b->ncandidates == 1 ? zerr_set(err, -EINVAL, "--try: there is no candidate") : rc;
}

static int choose_sizes(struct bench *b, struct zerr *err)
{
	char list[1024], *save = NULL;
	snprintf(list, sizeof(list), "%s", b->o.sizes);
	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		double v;
		if (args_bytes(word, &v) < 0 || v < 1 || b->nsizes == TUNE_SIZES_MAX ||
			(b->nsizes > 0 && v <= b->size[b->nsizes - 1]))
			return zerr_set(err, -EINVAL, "--sizes: %.40s is no size that is larger than the one before it",
				word);
		b->size[b->nsizes++] = v;
	}
	return b->nsizes > 0 ? 0 : zerr_set(err, -EINVAL, "--sizes: there is none");
}

static int clusters(const char *layout)
{
	int n = 1;
	for (const char *p = strchr(layout, '+'); p; p = strchr(p + 1, '+'))
		n++;
	return n;
}

/* Members of the cluster that has the most of them. */
static int members_max(const char *layout)
{
	int most = 0;
	for (const char *p = layout; p; p = strchr(p, '+') ? strchr(p, '+') + 1 : NULL)
		most = atoi(p) > most ? atoi(p) : most;
	return most;
}

/* Where the command takes no layout, there is one, of which nothing is known. */
static int choose_layouts(struct bench *b, struct zerr *err)
{
	static char any[] = "any";
	bool wanted = false;
	for (char **word = b->command; *word; word++)
		wanted |= strstr(*word, "{}") != NULL;
	if (!wanted) {
		b->layout[b->nlayouts++] = any;
		return 0;
	}
	char *list = strdup(b->o.layouts), *save = NULL; /* kept */
	for (char *word = list ? strtok_r(list, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save)) {
		const char *before = b->nlayouts > 0 ? b->layout[b->nlayouts - 1] : "0";
		bool more = clusters(word) > clusters(before) ||
			    (clusters(word) == clusters(before) && members_max(word) > members_max(before));
		if (b->nlayouts == LAYOUTS_MAX || members_max(word) < 1 || clusters(word) < 2 || !more)
			return zerr_set(err, -EINVAL,
				"--layouts: %.40s: clusters as 2+2 are wanted, each layout with more clusters than the "
				"one before it, or as many and more members in the largest one",
				word);
		b->layout[b->nlayouts++] = word;
	}
	return b->nlayouts > 0 ? 0 : zerr_set(err, -EINVAL, "--layouts: there is none");
}

/* --- measuring --- */
struct sink {
	struct bench *b;
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
	for (size_t t = 0; t < TARGETS; t++)
		for (int i = 0; i < s->b->nsizes && strcmp(op, targets[t].name) == 0; i++) {
			struct samples *v = &s->b->samples[s->candidate][t][i];
			if (bytes == s->b->size[i] && v->n < ROUNDS_MAX)
				v->us[v->n++] = us;
		}
}

static int measure(struct bench *b, const char *layout, int candidate, struct zerr *err)
{
	const struct candidate *c = &b->candidate[candidate];
	char ops[256] = "", seconds[32], rules[256];
	for (size_t t = 0; t < TARGETS; t++)
		if (c->concerns[t])
			snprintf(ops + strlen(ops), sizeof(ops) - strlen(ops), "%s%s", ops[0] ? "," : "",
				targets[t].name);
	snprintf(seconds, sizeof(seconds), "%g", b->o.seconds);
	snprintf(rules, sizeof(rules), "%s; %s", b->bridge, c->rules); /* the defaults, too, go by the bridge */
	struct tune_job j = {.command = b->command,
		.layout = layout,
		.program = b->program,
		.rules = rules,
		.ops = ops,
		.sizes = b->o.sizes,
		.seconds = seconds};
	return tune_run(&j, take_line, &(struct sink){b, candidate}, err);
}

static int measure_bridge(struct bench *b, const char *layout, struct zerr *err)
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

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(struct samples *s)
{
	qsort(s->us, s->n, sizeof(double), compare);
	return s->n ? s->us[s->n / 2] : 0;
}

/* --- choosing and writing --- */

/* The best of the candidates with this setting, or 0: none is faster than the defaults by the margin, and faster than
 * these were in the better half of their rounds. */
static int best(struct bench *b, const char *setting, size_t target, int size)
{
	int found = 0;
	struct samples *defaults = &b->samples[0][target][size];
	double limit = median(defaults) * (1 - b->o.margin / 100);
	if (b->o.margin >= 0 && defaults->us[defaults->n / 4] < limit)
		limit = defaults->us[defaults->n / 4];
	for (int c = 1; c < b->ncandidates; c++) {
		double us = median(&b->samples[c][target][size]);
		if (!b->candidate[c].concerns[target] || strcmp(b->candidate[c].setting, setting) != 0 || us == 0 ||
			us >= limit)
			continue;
		limit = us;
		found = c;
	}
	return found;
}

static double bytes_of(const struct bench *b, size_t target, int size)
{
	return b->size[size] * (targets[target].times_ranks ? b->ranks : 1);
}

/* For so many clusters alone, and for the members that no other layout with as many clusters stands for. */
static void write_conditions(struct bench *b, int layout)
{
	const char *here = b->layout[layout];
	int n = clusters(here);
	if (n < 2)
		return; /* nothing is known of it */
	fprintf(b->out, " clusters>=%d clusters<%d", n, n + 1);
	if (layout > 0 && clusters(b->layout[layout - 1]) == n)
		fprintf(b->out, " members_max>=%d", members_max(here));
	if (layout + 1 < b->nlayouts && clusters(b->layout[layout + 1]) == n)
		fprintf(b->out, " members_max<%d", members_max(b->layout[layout + 1]));
}

/* A rule for sizes from .. to - 1. */
static void write_rule(struct bench *b, int layout, size_t target, int c, int from, int to)
{
	fputs(targets[target].name, b->out);
	write_conditions(b, layout);
	fprintf(b->out, " bytes>=%.0f", bytes_of(b, target, from));
	if (to < b->nsizes)
		fprintf(b->out, " bytes<%.0f", bytes_of(b, target, to));
	fprintf(b->out, " %s=%s\t# us:", b->candidate[c].setting, b->candidate[c].value);
	for (int i = from; i < to; i++)
		fprintf(b->out, " %.1f (%.1f)", median(&b->samples[c][target][i]), median(&b->samples[0][target][i]));
	fputc('\n', b->out);
	b->rules_written++;
}

static void write_setting(struct bench *b, int layout, size_t target, const char *setting)
{
	for (int from = 0, to; from < b->nsizes; from = to) {
		int c = best(b, setting, target, from);
		for (to = from + 1; to < b->nsizes && best(b, setting, target, to) == c; to++)
			;
		if (c)
			write_rule(b, layout, target, c, from, to);
	}
}

static void write_layout(struct bench *b, int layout)
{
	fprintf(b->out, "\n# layout %s\n", b->layout[layout]);
	for (size_t t = 0; t < TARGETS; t++)
		for (int c = 1; c < b->ncandidates; c++) {
			bool first = b->candidate[c].concerns[t];
			for (int e = 1; e < c && first; e++)
				first = !b->candidate[e].concerns[t] ||
					strcmp(b->candidate[e].setting, b->candidate[c].setting) != 0;
			if (first)
				write_setting(b, layout, t, b->candidate[c].setting);
		}
}

static int tune_layout(struct bench *b, int layout, struct zerr *err)
{
	int rc = 0;
	memset(b->samples, 0, (size_t)b->ncandidates * sizeof(*b->samples));
	for (unsigned round = 0; round < b->o.rounds && rc == 0; round++)
		for (int c = 0; c < b->ncandidates && rc == 0; c++)
			rc = measure(b, b->layout[layout], c, err);
	if (rc == 0)
		write_layout(b, layout);
	return rc;
}

static int write_head(struct bench *b, struct zerr *err)
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
	/* The larger one takes longer by its bytes alone, however far the bridge is. */
	double us = b->bulk_us[1] - b->bulk_us[0], bytes = bulk_bytes[1] - bulk_bytes[0];
	if (us <= 0) { /* a busy machine */
		us = b->bulk_us[1];
		bytes = bulk_bytes[1];
	}
	snprintf(b->bridge, sizeof(b->bridge), "bridge latency_ns=%.0f bandwidth=%.0f", b->latency_us / 2 * 1e3,
		bytes / (us / 2 * 1e-6));
	fprintf(b->out, "%s\n", b->bridge);
	return 0;
}

static int run(struct bench *b, struct zerr *err)
{
	int rc = choose_candidates(b, err);
	if (rc == 0)
		rc = choose_sizes(b, err);
	if (rc == 0)
		rc = choose_layouts(b, err);
	if (rc < 0)
		return rc;
	b->samples = calloc((size_t)b->ncandidates, sizeof(*b->samples));
	b->out = b->o.output ? fopen(b->o.output, "we") : stdout;
	if (!b->samples || !b->out)
		return zerr_set(err, -errno, "%s: %s", b->o.output ? b->o.output : "memory", strerror(errno));
	rc = write_head(b, err);
	for (int l = 0; l < b->nlayouts && rc == 0 && !b->o.bridge; l++)
		rc = tune_layout(b, l, err);
	if (rc == 0 && b->rules_written == 0 && !b->o.bridge)
		fputs("# nothing was faster than the defaults\n", b->out);
	bool bad = fflush(b->out) != 0 || ferror(b->out);
	if (b->o.output)
		bad = fclose(b->out) != 0 || bad;
	return rc < 0 || !bad ? rc : zerr_set(err, -EIO, "the table cannot be written");
}

/* zipbench-coll beside this program; zmpirun of the build tree, or whichever is found. */
static void find_programs(struct bench *b, char zmpirun[4096])
{
	char dir[4000];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	dir[n < 0 ? 0 : n] = 0;
	char *end = strrchr(dir, '/');
	if (end)
		*end = 0;
	snprintf(b->program, sizeof(b->program), "%s/zipbench-coll", dir);
	snprintf(zmpirun, 4096, "%s/../../launch/zmpirun", dir);
	if (access(zmpirun, X_OK) != 0)
		snprintf(zmpirun, 4096, "zmpirun");
}

int tune_main(int argc, char **argv)
{
	struct zerr err = {.text = ""};
	struct bench b = {.o = {.layouts = "2+2,4+4,2+2+2",
				  .sizes = "1K,16K,128K,1M,4M",
				  .tries = default_tries,
				  .seconds = 0.05,
				  .rounds = 3,
				  .margin = 5}};
	char zmpirun[4096];
	char *by_default[] = {zmpirun, (char[]){"--clusters"}, (char[]){"{}"}, NULL};
	int own = 1;
	while (own < argc && strcmp(argv[own], "--") != 0)
		own++;
	int rc = args_parse(&b.o, args, sizeof(args) / sizeof(args[0]),
		"tune [OPTION ...] [-- COMMAND ...]: writes a tuning table; COMMAND starts a merged job, as zmpirun "
		"--clusters {}",
		own, argv, stderr);
	if (rc != 0)
		return rc == 1 ? 0 : rc;
	find_programs(&b, zmpirun);
	b.command = own + 1 < argc ? argv + own + 1 : by_default;
	rc = run(&b, &err);
	free(b.samples);
	return rc < 0 ? bench_fail(argv[0], &err) : 0;
}
