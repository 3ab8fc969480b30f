/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipbench-coll, "zipbench coll": times of collectives of all ranks. A plain MPI program: merged by zmpirun, native by
 * mpiexec, or over MMPI (--mmpi). Each repetition begins with a barrier. Its time is that of the slowest rank, from
 * call to return. Rank 0 writes a line for each operation and size.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/args/args.h"
#include "common/args/value.h"
#include "zipbench/coll/coll_data.h"
#include "zipbench/coll/coll_op.h"
#include "zipbench/mmpi/mmpi.h"
#include "zipbench/base/sort.h"

#define SIZES_MAX 128
#define IDLE_TESTS                                                                                                     \
	20 /* a message from another core arrives within a few vain tests; then each test is followed by a yield */
#define INT8_RANKS_MAX 127 /* more ranks would overflow a sum of bytes */

struct options {
	const char *ops, *sizes, *wait, *world, *csv;
	uint64_t min, max, memory;
	double factor, seconds;
	unsigned repeats, least, warm_up, mmpi;
	bool merged, leave;
};

#define FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct options, member)
#define HELP(name, text) .value = (name), .help = (text)
static const struct zargs_row rows[] = {
	{.name = "ops",
		FIELD(TEXT, ops),
		HELP("LIST", "operations, as barrier,bcast; default: all (MMPI: all it has)")},
	{.name = "min", FIELD(U64, min), .max = 1u << 30, HELP("BYTES", "smallest size; default 1")},
	{.name = "max", FIELD(U64, max), .max = 1u << 30, HELP("BYTES", "largest size; default 64M")},
	{.name = "factor",
		FIELD(REAL, factor),
		.low = 1.01,
		.high = 1e9,
		HELP("F", "from one size to the next; default 4")},
	{.name = "sizes", FIELD(TEXT, sizes), HELP("LIST", "these sizes instead, as 8,4K,1M")},
	{.name = "seconds",
		FIELD(REAL, seconds),
		.low = 0,
		.high = 1e6,
		HELP("S", "for each operation and size, about; default 0.3")},
	{.name = "repeats",
		FIELD(UNSIGNED, repeats),
		.min = 1,
		.max = 1000000,
		HELP("N", "at most N repetitions; default 2000")},
	{.name = "least",
		FIELD(UNSIGNED, least),
		.min = 1,
		.max = 1000000,
		HELP("N", "at least N, however long they take; default 5")},
	{.name = "warm-up",
		FIELD(UNSIGNED, warm_up),
		.min = 1,
		.max = 1000000,
		HELP("N", "repetitions before that are not counted; default 3")},
	{.name = "memory",
		FIELD(U64, memory),
		.min = 1,
		.max = UINT64_C(1) << 46,
		HELP("BYTES", "of a rank; larger measurements are left out; default 1G")},
	{.name = "wait",
		FIELD(TEXT, wait),
		HELP("HOW", "block: in MPI; yield: nonblocking calls and a loop that yields")},
	{.name = "mmpi",
		FIELD(UNSIGNED, mmpi),
		.min = 1,
		.max = 1000000,
		HELP("LOW", "over MMPI: rank 0 forwards, LOW ranks are the low group")},
	{.name = "merged", FIELD(FLAG, merged), .help = "fails where libzipper has not merged several clusters"},
	{.name = "world", FIELD(TEXT, world), HELP("NAME", "first column of the results; default: mpi or mmpi")},
	{.name = "leave", FIELD(FLAG, leave), .help = "end without MPI_Finalize, for native jobs that hang in it"},
	{.name = "csv", FIELD(TEXT, csv), HELP("FILE", "writes there; default: standard output")},
	{.name = NULL},
};

static const struct zargs args = {
	.program = "zipbench coll",
	.usage = "zipbench coll [OPTION ...]\nCollectives of all ranks; zmpirun or mpiexec starts it.\n",
	.rows = rows,
};

struct bench {
	struct options o;
	int rank, ranks;
	bool merged;
	bool yields;
	double size[SIZES_MAX];
	int nsizes;
	const struct coll_op *op[64];
	int nops;
	double *mine, *slowest, *sum; /* [repeats] */
	FILE *out;
};

/* --- one repetition --- */
static void wait_for(MPI_Request *r)
{
	int done = 0;
	for (int idle = 0; MPI_Test(r, &done, MPI_STATUS_IGNORE), !done; idle++)
		if (idle > IDLE_TESTS)
			sched_yield();
}

static double once(const struct bench *b, const struct coll_op *op, const struct coll_data *c)
{
	MPI_Request r;
	double start = MPI_Wtime();
	if (b->o.mmpi) {
		op->mmpi(c);
	} else {
		op->run(c, b->yields ? &r : NULL);
		if (b->yields)
			wait_for(&r);
	}
	return MPI_Wtime() - start;
}

/* A barrier, so that ranks begin together: the root of a broadcast would run ahead otherwise. */
static void together(const struct bench *b)
{
	once(b, &coll_op_table[0], NULL);
}

/* --- traffic between ranks beside the measurement --- */
static void agree(const struct bench *b, int *value)
{
	b->o.mmpi ? MMPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD) : MPI_Bcast(value, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void gather_up(const struct bench *b, const double *from, double *to, int n, MPI_Op op)
{
	b->o.mmpi ? MMPI_Reduce(from, to, n, MPI_DOUBLE, op, 0, MPI_COMM_WORLD)
		  : MPI_Reduce(from, to, n, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
}

static int report(struct bench *b, const struct coll_op *op, double bytes, int n)
{
	double mean = 0;
	for (int i = 0; i < n; i++)
		mean += b->sum[i] / b->ranks / n;
	sort_samples(b->slowest, (size_t)n);
	fprintf(b->out, "%s,%s,%.0f,%d,%d,%.2f,%.2f,%.2f,%.2f\n", b->o.world, op->name, bytes, b->ranks, n,
		b->slowest[n / 4] * 1e6, b->slowest[n / 2] * 1e6, b->slowest[n * 3 / 4] * 1e6, mean * 1e6);
	return fflush(b->out) == 0 ? 0 : -EIO;
}

/* The number of repetitions. one: the time of one, from those before. */
static int choose_repeats(const struct bench *b, double one)
{
	double n = one > 0 ? b->o.seconds / one : b->o.repeats;
	int repeats = n < b->o.repeats ? (int)n : (int)b->o.repeats;
	return repeats < (int)b->o.least ? (int)b->o.least : repeats;
}

static int measure(struct bench *b, const struct coll_op *op, struct coll_data *c)
{
	double wrong, all = 0, first;
	int repeats, bad = 0;
	coll_data_fill(c, op);
	together(b);
	once(b, op, c);
	wrong = (double)coll_data_check(c, op);
	gather_up(b, &wrong, &all, 1, MPI_SUM);
	bad = all != 0;
	agree(b, &bad);
	if (bad) {
		if (b->rank == 0)
			fprintf(stderr, "zipbench coll: %s of %zu bytes: the result is wrong in %.0f places\n",
				op->name, c->bytes, all);
		return -EBADMSG;
	}
	first = MPI_Wtime();
	for (unsigned i = 0; i < b->o.warm_up; i++) {
		together(b);
		once(b, op, c);
	}
	repeats = choose_repeats(b, (MPI_Wtime() - first) / b->o.warm_up);
	agree(b, &repeats);
	for (int i = 0; i < repeats; i++) {
		together(b);
		b->mine[i] = once(b, op, c);
	}
	gather_up(b, b->mine, b->slowest, repeats, MPI_MAX);
	gather_up(b, b->mine, b->sum, repeats, MPI_SUM);
	if (b->rank == 0)
		bad = report(b, op, (double)c->bytes, repeats) < 0;
	agree(b, &bad);
	if (bad && b->rank == 0)
		fprintf(stderr, "zipbench coll: the results cannot be written\n");
	return bad ? -EIO : 0;
}

/* Does the operation fit into memory, counts and sums? Rank 0 names one that does not. */
static bool fits(const struct bench *b, const struct coll_op *op, double bytes)
{
	const bool narrow = op->flow == COLL_REDUCES && fmod(bytes, sizeof(float)) != 0 && b->ranks > INT8_RANKS_MAX;
	/* counts and displacements of MPI are int */
	if (coll_data_memory(op, b->ranks, bytes) <= (double)b->o.memory && bytes * b->ranks <= INT_MAX && !narrow)
		return true;
	if (b->rank == 0)
		fprintf(stderr, "zipbench coll: %s of %.0f bytes is left out: %s\n", op->name, bytes,
			narrow ? "bytes would overflow" : "too large (--memory)");
	return false;
}

static int measure_all(struct bench *b)
{
	int rc = 0;
	if (b->rank == 0)
		fputs("world,op,bytes,ranks,repeats,q1_us,median_us,q3_us,mean_us\n", b->out);
	for (int s = 0; s < b->nsizes && rc == 0; s++)
		for (int i = 0; i < b->nops && rc == 0; i++) {
			const struct coll_op *op = b->op[i];
			struct coll_data c = {.rank = b->rank, .ranks = b->ranks, .bytes = (size_t)b->size[s]};
			if (op->flow == COLL_NOTHING) {
				if (s > 0)
					continue;
				c.bytes = 0;
			}
			if (!fits(b, op, (double)c.bytes))
				continue;
			if (!coll_data_init(&c, op)) {
				fprintf(stderr, "zipbench coll: rank %d: no memory for %s of %zu bytes\n", b->rank,
					op->name, c.bytes);
				MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
			}
			rc = measure(b, op, &c);
			coll_data_free(&c);
		}
	return rc;
}

/* --- choosing what to measure; all ranks find the same error, and rank 0 prints it --- */
static int refuse(const struct bench *b, const char *what, const char *why)
{
	if (b->rank == 0)
		fprintf(stderr, "zipbench coll: %s: %s; try zipbench coll --help\n", what, why);
	return ZARGS_EXIT_USAGE;
}

static int choose_ops(struct bench *b)
{
	char list[1024], *save = NULL;
	snprintf(list, sizeof(list), "%s", b->o.ops ? b->o.ops : "");
	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		const struct coll_op *op = coll_op_find(word);
		if (!op || (b->o.mmpi && !op->mmpi))
			return refuse(b, word, op ? "is not in MMPI" : "is no operation");
		if (b->nops < 64)
			b->op[b->nops++] = op;
	}
	for (size_t i = 0; i < coll_op_count && !b->o.ops; i++)
		if (b->o.mmpi ? coll_op_table[i].mmpi != NULL : !coll_op_table[i].extra)
			b->op[b->nops++] = &coll_op_table[i];
	return b->nops > 0 ? 0 : refuse(b, "--ops", "is empty");
}

static int choose_sizes(struct bench *b)
{
	char list[1024], *save = NULL;
	snprintf(list, sizeof(list), "%s", b->o.sizes ? b->o.sizes : "");
	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		uint64_t v;
		if (zargs_parse_u64(word, &v) < 0 || v > INT_MAX || b->nsizes == SIZES_MAX)
			return refuse(b, word, "is no size, or there are too many");
		b->size[b->nsizes++] = (double)v;
	}
	for (double v = (double)b->o.min; !b->o.sizes && v <= (double)b->o.max && b->nsizes < SIZES_MAX;) {
		b->size[b->nsizes++] = v;
		double next = floor(v * b->o.factor);
		v = next > v ? next : v + 1;
	}
	return b->nsizes > 0 ? 0 : refuse(b, "--min, --max or --sizes", "there is no size");
}

/* Do MPI functions come from libzipper, in a job of several parts, as described in libzipper(7)? Asked before MPI_Init,
 * which takes the job out of the environment. */
static bool is_merged(void)
{
	Dl_info of = {.dli_fname = NULL};
	const char *parts = getenv("ZIPPER_PARTS"); /* NULL: the parts may be in a hostfile */
	const void *function = dlsym(RTLD_DEFAULT, "MPI_Init");
	return function && dladdr(function, &of) && of.dli_fname && strstr(of.dli_fname, "libzipper") &&
	       getenv("ZIPPER_JOB") && (!parts || strchr(parts, ','));
}

static int check_merged(const struct bench *b)
{
	int merged = b->merged;
	agree(b, &merged);
	if (!merged && b->rank == 0)
		fputs("zipbench coll: --merged: no clusters were merged: was libzipper.so preloaded, as zmpirun "
		      "does?\n",
			stderr);
	return merged ? 0 : EXIT_FAILURE;
}

static int prepare(struct bench *b)
{
	int rc = b->o.merged ? check_merged(b) : 0;
	if (rc == 0)
		rc = choose_ops(b);
	if (rc == 0)
		rc = choose_sizes(b);
	if (rc != 0)
		return rc;
	if (strcmp(b->o.wait, "block") != 0 && strcmp(b->o.wait, "yield") != 0)
		return refuse(b, b->o.wait, "is neither block nor yield");
	b->yields = strcmp(b->o.wait, "yield") == 0;
	if (b->yields && b->o.mmpi)
		return refuse(b, "--wait yield", "MMPI blocks");
	size_t n = b->o.repeats > b->o.least ? b->o.repeats : b->o.least;
	b->mine = calloc(3 * n, sizeof(double));
	if (!b->mine)
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	b->slowest = b->mine + n;
	b->sum = b->slowest + n;
	int opened = 1;
	b->out = stdout;
	if (b->rank == 0 && b->o.csv && !(b->out = fopen(b->o.csv, "we")))
		opened = 0;
	if (!opened)
		fprintf(stderr, "zipbench coll: %s: %s\n", b->o.csv, strerror(errno));
	agree(b, &opened);
	return opened ? 0 : EXIT_FAILURE;
}

static int run(struct bench *b)
{
	int rc = prepare(b);
	if (rc == 0)
		rc = measure_all(b) < 0 ? EXIT_FAILURE : 0;
	if (b->out && b->out != stdout && fclose(b->out) != 0 && rc == 0)
		rc = EXIT_FAILURE;
	free(b->mine);
	return rc;
}

static int run_in_mmpi(struct bench *b)
{
	int rc = 0;
	if (mmpi_begin((int)b->o.mmpi)) {
		MMPI_Comm_rank(MPI_COMM_WORLD, &b->rank);
		MMPI_Comm_size(MPI_COMM_WORLD, &b->ranks);
		rc = run(b);
		mmpi_end();
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct bench b = {.o = {.wait = "block",
				  .min = 1,
				  .max = 64u << 20,
				  .factor = 4,
				  .seconds = 0.3,
				  .repeats = 2000,
				  .least = 5,
				  .warm_up = 3,
				  .memory = 1u << 30}};
	struct zerr err = {""};
	int rc = zargs_parse(&args, &b.o, argc, argv, NULL, &err);
	if (rc > 0)
		return 0;
	b.merged = is_merged();
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &b.ranks);
	if (rc != 0) {
		rc = ZARGS_EXIT_USAGE;
		if (b.rank == 0)
			zargs_refuse(&args, &err);
	} else {
		if (!b.o.world)
			b.o.world = b.o.mmpi ? "mmpi" : "mpi";
		rc = b.o.mmpi ? run_in_mmpi(&b) : run(&b);
	}
	if (b.o.leave) {
		MPI_Barrier(MPI_COMM_WORLD);
		fflush(NULL);
		_exit(rc);
	}
	MPI_Finalize();
	return rc;
}
