/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels of this folder, and what they share. Each kernel is plain MPI in MPI_COMM_WORLD. It takes only functions
 * that MMPI (zipbench/mmpi/mmpi.h) has, too, so that it can be compiled over MMPI (over_mmpi.h): no wildcards, no
 * MPI_PROC_NULL, no MPI_IN_PLACE.
 */
#ifndef ZIP_BENCH_KERNELS_KERNEL_H
#define ZIP_BENCH_KERNELS_KERNEL_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef OVER_MMPI
#include "bench/kernels/over_mmpi.h"
#endif

/* The classes by size, smallest first. */
#define CLASSES "SWABC"
#define NCLASSES 5

struct outcome {
	double seconds;	  /* of this rank: the work alone, without setting up and checking */
	char result[120]; /* in rank 0: numbers that do not depend on the number of ranks; no commas */
	char wrong[120];  /* what this rank has found wrong; empty: its numbers are right */
};

/* Runs in all ranks. class: an index of CLASSES. *out is all zero before. */
typedef void kernel_fn(int class, struct outcome *out);
kernel_fn ep_run, mg_run, cg_run, is_run, lu_run;

extern int me, ranks; /* this rank, and their number */

/* The first of n things that part i of the parts has; part i ends where part i + 1 begins. */
static inline int share(int n, int parts, int i)
{
	return (int)((long long)n * i / parts);
}

/* A well mixed function of x: the source of all "random" numbers, which hence do not depend on the number of ranks. It
 * is the output function of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014). */
static inline uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/* The number of x between 0 (included) and 1. */
static inline double unit(uint64_t x)
{
	return (double)(mix(x) >> 11) / 9007199254740992.0; /* 2^53 */
}

/* Zeroed memory, also for 0 bytes. Ends the job if there is none. */
void *memory(size_t bytes);

/* Notes what is wrong in this rank, the first time. */
void wrong(struct outcome *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Starts the clock of out->seconds in all ranks at about the same time, and stops it. */
void clock_start(struct outcome *);
void clock_stop(struct outcome *);

/* The largest value and the sum of all ranks. */
double max_of_all(double);
double sum_of_all(double);

/* The number of rows of a grid of all ranks that is as square as possible; it divides the number of ranks. */
int grid_rows(void);

#endif
