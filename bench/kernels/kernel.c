/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs kernels one after the other and prints a line for each: kernel, class, ranks, seconds of the slowest rank,
 * "verified" or "wrong", and the result. With --result there are no ranks and no seconds in it, so it is the same for
 * any number of ranks. The exit status is 1 if a number is wrong; the ranks that found it say what it was.
 *
 * usage: kernel ep|mg|cg|is|lu|all[,...] S|W|A|B|C [--result]
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kernels/kernel.h"

int me, ranks;

static const struct {
	const char *name;
	kernel_fn *run;
} kernels[] = {{"ep", ep_run}, {"mg", mg_run}, {"cg", cg_run}, {"is", is_run}, {"lu", lu_run}};
#define NKERNELS (sizeof(kernels) / sizeof(kernels[0]))

void *memory(size_t bytes)
{
	void *p = calloc(bytes ? bytes : 1, 1);
	if (!p) {
		fprintf(stderr, "kernel: rank %d has no memory for %zu bytes\n", me, bytes);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return p;
}

void wrong(struct outcome *out, const char *format, ...)
{
	va_list ap;
	if (out->wrong[0])
		return;
	va_start(ap, format);
	vsnprintf(out->wrong, sizeof(out->wrong), format, ap);
	va_end(ap);
}

void clock_start(struct outcome *out)
{
	MPI_Barrier(MPI_COMM_WORLD);
	out->seconds -= MPI_Wtime();
}

void clock_stop(struct outcome *out)
{
	out->seconds += MPI_Wtime();
}

double max_of_all(double mine)
{
	double all;
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

double sum_of_all(double mine)
{
	double all;
	MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

int grid_rows(void)
{
	int rows = 1;
	for (int r = 2; r * r <= ranks; r++)
		if (ranks % r == 0)
			rows = r;
	return rows;
}

/* Is the kernel in the list of names? */
static int is_asked(const char *list, const char *name)
{
	const size_t length = strlen(name);
	for (const char *p = list; p; p = strchr(p, ','), p = p ? p + 1 : NULL)
		if (!strncmp(p, name, length) && (!p[length] || p[length] == ','))
			return 1;
	return 0;
}

/* Returns 1 if any rank has found something wrong. */
static int run_one(size_t k, char letter, int result_only)
{
	struct outcome out = {0};
	kernels[k].run((int)(strchr(CLASSES, letter) - CLASSES), &out);
	if (out.wrong[0])
		fprintf(stderr, "kernel %s: rank %d: %s\n", kernels[k].name, me, out.wrong);
	const double seconds = max_of_all(out.seconds);
	const int bad = max_of_all(out.wrong[0] ? 1 : 0) > 0;
	if (me == 0) {
		printf("%s,%c,", kernels[k].name, letter);
		if (!result_only)
			printf("%d,%.6f,", ranks, seconds);
		printf("%s,%s\n", bad ? "wrong" : "verified", out.result);
		fflush(stdout);
	}
	return bad;
}

int main(int argc, char **argv)
{
	int bad = 0, any = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	const int result_only = argc == 4 && !strcmp(argv[3], "--result");
	const int fine = argc == 3 + result_only && strlen(argv[2]) == 1 && strchr(CLASSES, argv[2][0]);
	for (size_t k = 0; fine && k < NKERNELS; k++)
		if (is_asked(argv[1], kernels[k].name) || is_asked(argv[1], "all")) {
			any = 1;
			bad |= run_one(k, argv[2][0], result_only);
		}
	if (!any && me == 0)
		fprintf(stderr, "usage: kernel ep|mg|cg|is|lu|all[,...] S|W|A|B|C [--result]\n");
	MPI_Finalize();
	return any ? bad : 2;
}
