/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the test programs: start and end, checks that count, and byte patterns that depend on a seed. */
#ifndef ZIP_TEST_CHECK_H
#define ZIP_TEST_CHECK_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, errors;
#define WORLD MPI_COMM_WORLD

/* Counts and prints a failed check; the first ten only. */
#define CHECK(condition, ...)                                                                                          \
	do {                                                                                                           \
		if (!(condition) && errors++ < 10) {                                                                   \
			char text_[300];                                                                               \
			snprintf(text_, sizeof text_, __VA_ARGS__);                                                    \
			printf("rank %d: wrong at line %d: %s\n", rank, __LINE__, text_);                              \
		}                                                                                                      \
	} while (0)
#define CHECK_INT(got, wanted)                                                                                         \
	do {                                                                                                           \
		long long got_ = (long long)(got), wanted_ = (long long)(wanted);                                      \
		CHECK(got_ == wanted_, "%s is %lld, not %lld", #got, got_, wanted_);                                   \
	} while (0)

/* To be called after each MPI_Init: MPICH has made stdout unbuffered, and the C library may write a line in pieces
 * then, between which the output of another rank comes. */
static inline void whole_lines(void)
{
	static char lines[1 << 16];
	setvbuf(stdout, lines, _IOLBF, sizeof lines);
}

static inline void begin(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
}
/* The running MPICH's version without its patch level: 402 is 4.2. 0: another library. */
static inline int mpich_version(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int len, major, minor;
	MPI_Get_library_version(text, &len);
	return sscanf(text, "MPICH Version: %d.%d", &major, &minor) == 2 ? major * 100 + minor : 0;
}
static inline int class_of(int code)
{
	int class;
	MPI_Error_class(code, &class);
	return class;
}
/* Returns the exit status. Rank 0 says "No errors" when no rank had any. */
static inline int end(void)
{
	int total = errors;
	printf("rank %d: %s\n", rank, errors ? "errors" : "ok");
	MPI_Reduce(&errors, &total, 1, MPI_INT, MPI_SUM, 0, WORLD);
	if (rank == 0)
		printf(total ? "%d errors\n" : "No errors\n", total);
	MPI_Finalize();
	return errors ? 1 : 0;
}

/* A byte stream from a seed (xorshift, Marsaglia 2003). */
static inline uint32_t next_random(uint32_t *state)
{
	uint32_t x = *state ? *state : 0x9e3779b9u;
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return *state = x;
}
static inline void fill(void *buf, size_t len, uint32_t seed)
{
	unsigned char *p = buf;
	uint32_t state = seed * 2654435761u + 1;
	for (size_t i = 0; i < len; i++)
		p[i] = (unsigned char)(next_random(&state) >> 11);
}
/* Whether buf holds what fill(seed) made. */
static inline int filled(const void *buf, size_t len, uint32_t seed)
{
	const unsigned char *p = buf;
	uint32_t state = seed * 2654435761u + 1;
	for (size_t i = 0; i < len; i++)
		if (p[i] != (unsigned char)(next_random(&state) >> 11))
			return 0;
	return 1;
}
/* A short digest of what was received, for printing (FNV-1a). */
static inline uint32_t digest(const void *buf, size_t len)
{
	const unsigned char *p = buf;
	uint32_t h = 2166136261u;
	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 16777619u;
	return h;
}

#endif
