/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "zipbench cast": multicasts by libzipcast, as in the figures of the RDMC paper (Behrens, Jha, Tremel, Birman,
 * "Pushing Bytes", sections 5.2.1 to 5.2.3), among nodes in this process. Sizes above 1 MiB are the paper's divided by
 * --scale.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "args.h"
#include "cast_net.h"
#include "zipbench.h"

#define MIB (1u << 20)
#define NET_BYTES_MAX (1024.0 * MIB) /* memory of all nodes together; figure 8 stops there */
#define HOSTS 15		     /* of replicas in figure 9, and one that sends */
#define OVERLAP_MAX 16		     /* groups of figure 10 */
#define DATA_SHIFT 4096		     /* each sender sends other bytes */

struct options {
	const char *figures, *transport, *csv;
	unsigned scale, nodes, count, writes;
};

static const struct arg args[] = {
#define AT(field) offsetof(struct options, field)
	{"figure", "LIST", ARG_TEXT, 0, 0, AT(figures), NULL, "of 4,6,8,9,10,11; default: all"},
	{"transport", "NAME", ARG_TEXT, 0, 0, AT(transport), NULL,
		"tcp (default), shm, or an address: DEVICE:PORT@HOST:0 (Verbs)"},
	{"scale", "N", ARG_NUMBER, 1, 4096, AT(scale), NULL,
		"sizes above 1 MiB are the paper's divided by it; default 16"},
	{"nodes", "N", ARG_NUMBER, 3, CAST_MEMBERS_MAX, AT(nodes), NULL,
		"largest group; default 16 (figure 8: 4 times that)"},
	{"count", "N", ARG_NUMBER, 1, 1e6, AT(count), NULL, "messages for each point; default 5"},
	{"writes", "N", ARG_NUMBER, 1, 1e6, AT(writes), NULL, "objects of figure 9; default 200"},
	{"csv", "FILE", ARG_TEXT, 0, 0, AT(csv), NULL, "writes there; default: standard output"},
#undef AT
};

static const char *const algorithms[] = {"sequential", "tree", "chain", "pipeline"};

struct bench {
	const struct options *o;
	FILE *out;
	uint8_t *data;
	uint64_t data_bytes;
	double *sample; /* [count or writes] seconds */
	double cpu;	/* share of one processor that the last measurement took, in all threads */
};

static uint64_t scaled(const struct bench *b, uint64_t bytes)
{
	if (bytes <= MIB)
		return bytes;
	return bytes / b->o->scale > MIB ? bytes / b->o->scale : MIB;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double cpu_seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

/* --- one point --- */
struct point {
	const char *line;
	const char *algorithm;
	enum zipcast_waiting waiting;
	uint32_t nodes, senders;
	uint32_t block_bytes; /* 0: the default */
	uint64_t bytes;
};

/* A group for each sender, all with the same members; `sample` gets how long each round of one message in each took. */
static int send_rounds(struct bench *b, const struct point *p, struct cast_net *net, struct cast_group *g,
	struct zerr *err)
{
	double ignored;
	for (uint32_t s = 0; s < p->senders; s++) { /* also connects and touches all memory */
		int rc = cast_net_send(net, &g[s], 1, p->bytes, 1, &ignored, err);
		if (rc == 0)
			rc = cast_group_verify(&g[s], p->bytes, err);
		if (rc < 0)
			return rc;
	}
	const double start = bench_now(), cpu = cpu_seconds();
	for (unsigned i = 0; i < b->o->count; i++) {
		int rc = cast_net_send(net, g, p->senders, p->bytes, 1, &b->sample[i], err);
		if (rc < 0)
			return rc;
	}
	b->cpu = (cpu_seconds() - cpu) / (bench_now() - start);
	qsort(b->sample, b->o->count, sizeof(double), compare);
	int rc = 0;
	for (uint32_t s = 0; s < p->senders && rc == 0; s++)
		rc = cast_group_verify(&g[s], p->bytes, err);
	return rc;
}

static int measure(struct bench *b, const struct point *p, struct zerr *err)
{
	struct cast_net net;
	struct cast_group g[OVERLAP_MAX] = {{.n = 0}};
	uint32_t member[CAST_MEMBERS_MAX];
	int rc = cast_net_open(&net, b->o->transport, p->nodes, p->senders, p->waiting, p->bytes, err);
	for (uint32_t s = 0; s < p->senders && rc == 0; s++) {
		for (uint32_t i = 0; i < p->nodes; i++)
			member[i] = (s + i) % p->nodes;
		rc = cast_group_open(&g[s], &net, s, member, p->nodes, p->algorithm, p->block_bytes,
			b->data + s * DATA_SHIFT, err);
	}
	if (rc == 0)
		rc = send_rounds(b, p, &net, g, err);
	for (uint32_t s = 0; s < p->senders; s++)
		cast_group_close(&g[s]);
	cast_net_close(&net);
	return rc;
}

static void write_head(FILE *f)
{
	fputs("figure,line,nodes,block_bytes,bytes,senders,messages,q1_us,median_us,q3_us,mbytes_per_s,cpu_percent,"
	      "percentile\n",
		f);
}

static void write_row(const struct bench *b, int figure, const struct point *p)
{
	const unsigned n = b->o->count;
	const double median = b->sample[n / 2];
	fprintf(b->out, "%d,%s,%u,%u,%llu,%u,%u,%.1f,%.1f,%.1f,%.2f,%.0f,\n", figure, p->line, p->nodes,
		p->block_bytes ? p->block_bytes : ZIPCAST_BLOCK_BYTES, (unsigned long long)p->bytes, p->senders,
		n * p->senders, b->sample[n / 4] * 1e6, median * 1e6, b->sample[n * 3 / 4] * 1e6,
		(double)p->bytes * p->senders / median / 1e6, b->cpu * 100);
	fflush(b->out);
}

static int add(struct bench *b, int figure, const struct point *p, struct zerr *err)
{
	int rc = measure(b, p, err);
	if (rc == 0)
		write_row(b, figure, p);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "figure %d, %s, %u nodes", figure, p->line, p->nodes);
}

/* The sizes of groups in the figures: 2, 3, 4, 6, 8, 12, 16, ... */
static uint32_t next_nodes(uint32_t n)
{
	if (n == 2)
		return 3;
	return (n & (n - 1)) == 0 ? n + n / 2 : n / 3 * 4;
}

/* --- the figures --- */
/* Latency of the algorithms, of large and of medium messages. */
static int figure4(struct bench *b, struct zerr *err)
{
	static const uint64_t sizes[] = {256ull * MIB, 8ull * MIB};
	int rc = 0;
	for (int s = 0; s < 2 && rc == 0; s++)
		for (uint32_t n = 2; n <= b->o->nodes && rc == 0; n = next_nodes(n))
			for (int a = 0; a < 4 && rc == 0; a++)
				rc = add(b, 4,
					&(struct point){.line = algorithms[a],
						.algorithm = algorithms[a],
						.nodes = n,
						.senders = 1,
						.bytes = scaled(b, sizes[s])},
					err);
	return rc;
}

/* Bandwidth by the size of blocks, for messages of several sizes to groups of four. */
static int figure6(struct bench *b, struct zerr *err)
{
	int rc = 0;
	for (uint64_t bytes = 16u << 10; bytes <= scaled(b, 128ull * MIB) && rc == 0; bytes *= 8)
		for (uint32_t block = 4096; block <= ZIPCAST_BLOCK_BYTES_MAX && block <= bytes && rc == 0; block *= 4) {
			char line[32];
			snprintf(line, sizeof(line), bytes < MIB ? "%.0f KiB" : "%.0f MiB",
				(double)bytes / (bytes < MIB ? 1024 : MIB));
			rc = add(b, 6,
				&(struct point){.line = line,
					.algorithm = "pipeline",
					.nodes = 4,
					.senders = 1,
					.block_bytes = block,
					.bytes = bytes},
				err);
		}
	return rc;
}

/* One object to very many. */
static int figure8(struct bench *b, struct zerr *err)
{
	const uint64_t bytes = scaled(b, 256ull * MIB);
	int rc = 0;
	for (uint32_t n = 2;
		n <= 4 * b->o->nodes && n <= CAST_MEMBERS_MAX && n * (double)bytes <= NET_BYTES_MAX && rc == 0; n *= 2)
		for (int a = 0; a < 4 && rc == 0; a += 3)
			rc = add(b, 8,
				&(struct point){.line = algorithms[a],
					.algorithm = algorithms[a],
					.nodes = n,
					.senders = 1,
					.bytes = bytes},
				err);
	return rc;
}

static double uniform(uint64_t *state) /* (0, 1]; splitmix64 */
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (double)((x ^ (x >> 31)) >> 11) / 9007199254740992.0 + 1e-16;
}

/* Sizes of objects: the paper's trace of Cosmos is not public. Log-normal, from 4 KiB to 128 MiB scaled, the median a
 * sixteenth of that. */
static uint64_t object_bytes(const struct bench *b, uint64_t *state)
{
	const double largest = (double)scaled(b, 128ull * MIB);
	double normal = sqrt(-2 * log(uniform(state))) * cos(2 * 3.14159265358979 * uniform(state));
	double bytes = largest / 16 * exp(1.2 * normal);
	return (uint64_t)(bytes < 4096 ? 4096 : bytes > largest ? largest : bytes);
}

static void write_distribution(const struct bench *b, const char *algorithm, double total)
{
	qsort(b->sample, b->o->writes, sizeof(double), compare);
	for (int p = 1; p <= 100; p++) {
		unsigned i = (unsigned)((double)b->o->writes * p / 100 + 0.5);
		fprintf(b->out, "9,%s,4,%u,,1,%u,,%.1f,,%.2f,%.0f,%d\n", algorithm, ZIPCAST_BLOCK_BYTES, b->o->writes,
			b->sample[i ? i - 1 : 0] * 1e6, total / 1e6, b->cpu * 100, p);
	}
	fflush(b->out);
}

/* Every object to the next group of three hosts, of all there are, one after the other. */
static int write_objects(struct bench *b, struct cast_net *net, struct cast_group *g, uint32_t ngroups,
	const char *algorithm, struct zerr *err)
{
	uint64_t state = 9, sum = 0; /* the same objects and groups for each algorithm */
	double ignored, start = bench_now(), cpu = cpu_seconds(), seconds = 0;
	int rc = 0;
	for (uint32_t i = 0; i < ngroups && rc == 0; i++)
		rc = cast_net_send(net, &g[i], 1, 1, 1, &ignored, err); /* connected */
	for (unsigned w = 0; w < b->o->writes && rc == 0; w++) {
		uint64_t bytes = object_bytes(b, &state);
		uint32_t k = (uint32_t)(uniform(&state) * ngroups) % ngroups;
		rc = cast_net_send(net, &g[k], 1, bytes, 1, &b->sample[w], err);
		if (rc == 0 && w % 16 == 0)
			rc = cast_group_verify(&g[k], bytes, err);
		sum += bytes;
		seconds += b->sample[w];
	}
	b->cpu = (cpu_seconds() - cpu) / (bench_now() - start);
	if (rc == 0)
		write_distribution(b, algorithm, (double)sum / seconds);
	return rc;
}

/* The storage system: one node generates objects, and 15 keep them, each object on a random three of them. */
static int figure9(struct bench *b, struct zerr *err)
{
	static const char *const compared[] = {"sequential", "tree", "pipeline"};
	enum { GROUPS = HOSTS * (HOSTS - 1) * (HOSTS - 2) / 6 };
	struct cast_group *g = calloc(GROUPS, sizeof(*g));
	int rc = g ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	for (int a = 0; a < 3 && rc == 0; a++) {
		struct cast_net net;
		uint32_t k = 0, opened = 0;
		rc = cast_net_open(&net, b->o->transport, HOSTS + 1, 1, ZIPCAST_HYBRID, scaled(b, 128ull * MIB), err);
		for (uint32_t x = 1; x <= HOSTS; x++)
			for (uint32_t y = x + 1; y <= HOSTS; y++)
				for (uint32_t z = y + 1; z <= HOSTS && rc == 0; z++, opened++)
					rc = cast_group_open(&g[k++], &net, 0, (uint32_t[]){0, x, y, z}, 4, compared[a],
						0, b->data, err);
		if (rc == 0)
			rc = write_objects(b, &net, g, GROUPS, compared[a], err);
		for (uint32_t i = 0; i < opened; i++)
			cast_group_close(&g[i]);
		cast_net_close(&net);
	}
	free(g);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "figure 9");
}

static const uint64_t sizes10[] = {100ull * MIB, MIB, 10u << 10}; /* also figure 11's */

/* Overlapping groups: all members send, half of them, one. */
static int figure10(struct bench *b, struct zerr *err)
{
	static const char *const lines[] = {"all send", "half send", "one sends"};
	int rc = 0;
	for (int s = 0; s < 3; s++)
		for (uint32_t n = 2; n <= b->o->nodes && n <= OVERLAP_MAX && rc == 0; n = next_nodes(n))
			for (int l = 0; l < 3 && rc == 0; l++)
				rc = add(b, 10,
					&(struct point){.line = lines[l],
						.algorithm = "pipeline",
						.nodes = n,
						.senders = l == 0   ? n
							   : l == 1 ? (n + 1) / 2
								    : 1,
						.bytes = scaled(b, sizes10[s])},
					err);
	return rc;
}

/* How the contexts wait. */
static int figure11(struct bench *b, struct zerr *err)
{
	static const struct {
		const char *name;
		enum zipcast_waiting how;
	} waits[] = {{"hybrid", ZIPCAST_HYBRID}, {"interrupts", ZIPCAST_INTERRUPTS}, {"polling", ZIPCAST_POLL}};
	int rc = 0;
	for (int s = 0; s < 3; s++)
		for (uint32_t n = 2; n <= b->o->nodes && rc == 0; n = next_nodes(n))
			for (int w = 0; w < 3 && rc == 0; w++)
				rc = add(b, 11,
					&(struct point){.line = waits[w].name,
						.algorithm = "pipeline",
						.waiting = waits[w].how,
						.nodes = n,
						.senders = 1,
						.bytes = scaled(b, sizes10[s])},
					err);
	return rc;
}

static const struct {
	int number;
	int (*make)(struct bench *, struct zerr *);
} figures[] = {{4, figure4}, {6, figure6}, {8, figure8}, {9, figure9}, {10, figure10}, {11, figure11}};
#define NFIGURES (sizeof(figures) / sizeof(figures[0]))

/* -1: not a figure */
static int find_figure(const char *word)
{
	char number[8];
	for (size_t i = 0; i < NFIGURES; i++) {
		snprintf(number, sizeof(number), "%d", figures[i].number);
		if (strcmp(word, number) == 0)
			return (int)i;
	}
	return -1;
}

static int make_figures(struct bench *b, struct zerr *err)
{
	char list[256], *save = NULL;
	int rc = 0;
	write_head(b->out);
	snprintf(list, sizeof(list), "%s", b->o->figures);
	for (char *word = strtok_r(list, ",", &save); word && rc == 0; word = strtok_r(NULL, ",", &save)) {
		int f = find_figure(word);
		rc = f < 0 ? zerr_set(err, -EINVAL, "--figure: there is no %.40s here", word) : figures[f].make(b, err);
	}
	return rc;
}

static int run(struct bench *b, struct zerr *err)
{
	const unsigned n = b->o->count > b->o->writes ? b->o->count : b->o->writes;
	if (strcmp(b->o->transport, "tcp") != 0 && strcmp(b->o->transport, "shm") != 0 && !strchr(b->o->transport, ':'))
		return zerr_set(err, -EINVAL, "--transport: tcp, shm or an address, not %.40s", b->o->transport);
	b->data_bytes = scaled(b, 256ull * MIB) + OVERLAP_MAX * DATA_SHIFT;
	b->data = malloc(b->data_bytes);
	b->sample = calloc(n, sizeof(double));
	if (!b->data || !b->sample)
		return zerr_set(err, -ENOMEM, "out of memory");
	uint64_t state = 1;
	for (uint64_t i = 0; i + 8 <= b->data_bytes; i += 8) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		memcpy(b->data + i, &state, 8);
	}
	b->out = b->o->csv ? fopen(b->o->csv, "we") : stdout;
	if (!b->out)
		return zerr_set(err, -errno, "%s: %s", b->o->csv, strerror(errno));
	int rc = make_figures(b, err);
	bool bad = fflush(b->out) != 0 || ferror(b->out);
	if (b->o->csv)
		bad = fclose(b->out) != 0 || bad;
	return rc < 0 || !bad ? rc : zerr_set(err, -EIO, "the results cannot be written");
}

int cast_main(int argc, char **argv)
{
	struct options o =
		{.figures = "4,6,8,9,10,11", .transport = "tcp", .scale = 16, .nodes = 16, .count = 5, .writes = 200};
	struct bench b = {.o = &o};
	struct zerr err = {.text = ""};
	int rc = args_parse(&o, args, sizeof(args) / sizeof(args[0]),
		"cast [OPTION ...]: multicasts of libzipcast on this machine", argc, argv, stderr);
	if (rc != 0)
		return rc == 1 ? 0 : rc;
	rc = run(&b, &err);
	free(b.data);
	free(b.sample);
	return rc < 0 ? bench_fail(argv[0], &err) : 0;
}
