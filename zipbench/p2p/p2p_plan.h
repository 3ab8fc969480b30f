/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The things that zipbench and its MPI program zipbench-p2p agree on: the benchmarks with the quantities that they
 * print, and the options that zipbench passes on to the program. The program prints a line for each size: the bytes,
 * then a number for each quantity, with blanks between them. Needs libc alone.
 */
#ifndef ZIPBENCH_P2P_P2P_PLAN_H
#define ZIPBENCH_P2P_P2P_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

#define P2P_QUANTITIES_MAX 4
#define P2P_SIZES_MAX 64
#define P2P_BYTES_MAX (UINT64_C(1) << 30) /* counts of MPI are int */
#define P2P_COUNT_MAX 100000000u
#define P2P_WINDOW_MAX 65536u
#define P2P_PAIRS_MAX 4096u

struct p2p_bench {
	const char *name;
	const char *help;
	unsigned pairs; /* by default; 0: always one, and there is no --pairs */
	bool windows;	/* has --window */
	unsigned nquantities;
	const char *quantity[P2P_QUANTITIES_MAX]; /* with its unit, as the OSU benchmarks name it */
};

/* NULL: there is none of that name. */
const struct p2p_bench *p2p_bench_find(const char *name);

struct p2p_plan {
	const char *sizes;	     /* as typed */
	unsigned iterations, warmup; /* 0, and P2P_COUNT_MAX + 1: choose by the size */
	unsigned window, pairs;	     /* pairs 0: the benchmark's default */
	bool validate;
	uint64_t size[P2P_SIZES_MAX]; /* from sizes, see p2p_plan_check */
	unsigned nsizes;
};

#define P2P_PLAN_DEFAULTS                                                                                              \
	{                                                                                                              \
		.sizes = "1:4M", .warmup = P2P_COUNT_MAX + 1, .window = 64                                             \
	}
/* Rows of both command lines. The plan is the first field of the options' struct. */
#define P2P_PLAN_FIELD(kind, member) .type = ZARGS_##kind, .offset = offsetof(struct p2p_plan, member)
#define P2P_PLAN_ROWS                                                                                                  \
	{.name = "sizes",                                                                                              \
		P2P_PLAN_FIELD(TEXT, sizes),                                                                           \
		.value = "MIN:MAX",                                                                                    \
		.help = "bytes, doubled from MIN to MAX; or a list, as 8,4K,1M; default 1:4M"},                        \
		{.name = "iterations",                                                                                 \
			P2P_PLAN_FIELD(UNSIGNED, iterations),                                                          \
			.min = 1,                                                                                      \
			.max = P2P_COUNT_MAX,                                                                          \
			.value = "N",                                                                                  \
			.help = "that are timed, for each size; default 1000, and 100 above 8K"},                      \
		{.name = "warmup",                                                                                     \
			P2P_PLAN_FIELD(UNSIGNED, warmup),                                                              \
			.min = 0,                                                                                      \
			.max = P2P_COUNT_MAX,                                                                          \
			.value = "N",                                                                                  \
			.help = "iterations before them; default: a tenth of them"},                                   \
		{.name = "window",                                                                                     \
			P2P_PLAN_FIELD(UNSIGNED, window),                                                              \
			.min = 1,                                                                                      \
			.max = P2P_WINDOW_MAX,                                                                         \
			.value = "N",                                                                                  \
			.help = "messages under way at a time (bw, bibw, mbw_mr); default 64"},                        \
		{.name = "pairs",                                                                                      \
			P2P_PLAN_FIELD(UNSIGNED, pairs),                                                               \
			.min = 1,                                                                                      \
			.max = P2P_PAIRS_MAX,                                                                          \
			.value = "N",                                                                                  \
			.help = "of ranks that send at the same time (mbw_mr); default 2"},                            \
	{                                                                                                              \
		.name = "validate", P2P_PLAN_FIELD(FLAG, validate), .help = "compares all bytes that arrive"           \
	}

/* Reads the sizes, and sets pairs. 0; -EINVAL with text: no size, too many, too large, or several pairs of a benchmark
 * that has one. */
int p2p_plan_check(struct p2p_plan *, const struct p2p_bench *, struct zerr *);
/* The iterations for messages of this size, and those before them. */
unsigned p2p_plan_iterations(const struct p2p_plan *, uint64_t bytes);
unsigned p2p_plan_warmup(const struct p2p_plan *, uint64_t bytes);

#endif
