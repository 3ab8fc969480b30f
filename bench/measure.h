/* SPDX-License-Identifier: BSD-3-Clause */
/* Time, medians, and waiting as zipperd and libzipper wait, for the measuring programs. */
#ifndef ZIP_BENCH_MEASURE_H
#define ZIP_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "common/base/wait.h"

uint64_t measure_now_ns(void);
/* Sorts the values. */
double measure_median(double *values, size_t count);
/* Prints "program: text" and exits with 1. */
noreturn void measure_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A half of a connection, on which a process can sleep. */
struct sleeper {
	int fd;
	short events;		 /* POLLIN or POLLOUT */
	bool (*arm)(void *half); /* false: do not sleep */
	void *half;
};
/* After a look at everything in vain: spins, yields, or sleeps until one of the halves has news. */
void measure_wait(struct zwait *, const struct sleeper *, size_t count);

/* Latency and bandwidth, as the sending side sees them, over something that carries messages. */
struct carrier {
	void (*send)(void *ctx, const void *bytes, size_t len); /* sends one message; returns when it is on its way */
	void (*receive)(void *ctx, void *bytes, size_t len);	/* receives one message of this length */
	void *ctx;
};
#define MEASURE_SMALL_BYTES 8
#define MEASURE_LARGE_BYTES ((size_t)1 << 20)
#define MEASURE_WINDOW 8 /* buffers for large messages, used in turn, as mpi_pair.c has as many under way */

struct measure_plan {
	unsigned round_trips; /* one tenth more come first, to warm up */
	unsigned large;	      /* messages of MEASURE_LARGE_BYTES */
};
extern const struct measure_plan measure_default_plan;
void measure_send(const struct carrier *, const struct measure_plan *, const char *title);
void measure_receive(const struct carrier *, const struct measure_plan *);

#endif
