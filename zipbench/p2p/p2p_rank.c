/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * zipbench-p2p BENCHMARK [OPTION ...]: the MPI program of "zipbench lat" and its kin. Rank 0 prints a line for each
 * size, see p2p_plan.h. A plain MPI program: zipbench starts it once for each way.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/args.h"
#include "zipbench/p2p/p2p_measure.h"
#include "zipbench/p2p/p2p_plan.h"

static const struct zargs_row rows[] = {P2P_PLAN_ROWS, {.name = NULL}};

static const struct zargs args = {
	.program = "zipbench-p2p",
	.usage = "zipbench-p2p BENCHMARK [OPTION ...]\nMessages between pairs of ranks; zipbench starts it.\n",
	.operands = "BENCHMARK",
	.least = 1,
	.most = 1,
	.rows = rows,
};

static void *memory(size_t n, size_t bytes)
{
	void *p = n > 0 && bytes > SIZE_MAX / n ? NULL : malloc(n * bytes);
	if (!p) {
		fprintf(stderr, "zipbench-p2p: no memory for %zu messages of %zu bytes\n", n, bytes);
		MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	} else {
		memset(p, 1, n * bytes); /* its pages are there before time counts */
	}
	return p;
}

static int print(uint64_t bytes, const struct p2p_bench *b, const double *result)
{
	printf("%llu", (unsigned long long)bytes);
	for (unsigned i = 0; i < b->nquantities; i++)
		printf(" %.2f", result[i]);
	putchar('\n');
	return fflush(stdout) == 0 ? 0 : -EIO;
}

/* One size. 0, or EXIT_FAILURE on all ranks of the pairs. */
static int measure(struct p2p_side *s, const struct p2p_bench *b, uint64_t bytes, bool first)
{
	const size_t slots = b->windows ? s->plan->window : 1;
	double result[P2P_QUANTITIES_MAX] = {0};
	uint64_t wrong = 0;
	int bad = 0;
	s->bytes = bytes;
	s->iterations = (int)p2p_plan_iterations(s->plan, bytes);
	s->warmup = (int)p2p_plan_warmup(s->plan, bytes);
	s->wrong = 0;
	s->send = memory(slots, bytes);
	s->receive = memory(slots, bytes);
	p2p_measure(s, b, result);
	free(s->send);
	free(s->receive);
	MPI_Reduce(&s->wrong, &wrong, 1, MPI_UINT64_T, MPI_SUM, 0, s->all);
	if (first && wrong)
		fprintf(stderr, "zipbench-p2p: %s of %llu bytes: %llu bytes that arrived are wrong\n", b->name,
			(unsigned long long)bytes, (unsigned long long)wrong);
	if (first)
		bad = wrong != 0 || print(bytes, b, result) < 0;
	MPI_Bcast(&bad, 1, MPI_INT, 0, s->all);
	return bad ? EXIT_FAILURE : 0;
}

static int run(const struct p2p_plan *plan, const struct p2p_bench *b, int rank, int ranks)
{
	const int pairs = (int)plan->pairs;
	struct p2p_side s = {.plan = plan, .sends = rank < pairs};
	int rc = 0;
	if (ranks < 2 * pairs) {
		if (rank == 0)
			fprintf(stderr, "zipbench-p2p: %d pairs need %d ranks; there are %d\n", pairs, 2 * pairs,
				ranks);
		return EXIT_FAILURE;
	}
	const bool idle = rank >= pairs && rank < ranks - pairs;
	MPI_Comm_split(MPI_COMM_WORLD, idle ? MPI_UNDEFINED : 0, rank, &s.all);
	if (!idle) {
		s.peer = s.sends ? ranks - pairs + rank : rank - (ranks - pairs);
		s.request = memory(2 * (size_t)plan->window, sizeof(MPI_Request));
		s.status = memory(2 * (size_t)plan->window, sizeof(MPI_Status));
		for (unsigned i = 0; i < plan->nsizes && rc == 0; i++)
			rc = measure(&s, b, plan->size[i], rank == 0);
		free(s.request);
		free(s.status);
		MPI_Comm_free(&s.all);
	}
	MPI_Bcast(&rc, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return rc;
}

int main(int argc, char **argv)
{
	struct p2p_plan plan = P2P_PLAN_DEFAULTS;
	const struct p2p_bench *b = NULL;
	struct zerr err = {""};
	int first = 0, rank, ranks, rc = zargs_parse(&args, &plan, argc, argv, &first, &err);
	if (rc > 0)
		return 0;
	if (rc == 0 && !(b = p2p_bench_find(argv[first])))
		rc = zerr_set(&err, -EINVAL, "there is no benchmark %.64s", argv[first]);
	if (rc == 0)
		rc = p2p_plan_check(&plan, b, &err);
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rc == 0) {
		rc = run(&plan, b, rank, ranks);
	} else {
		rc = ZARGS_EXIT_USAGE;
		if (rank == 0)
			zargs_refuse(&args, &err);
	}
	MPI_Finalize();
	return rc;
}
