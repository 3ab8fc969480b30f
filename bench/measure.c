/* SPDX-License-Identifier: BSD-3-Clause */
/* Time, medians, waiting, and the two measurements: round trips of 8 bytes and a stream of 1 MiB messages. */
#include "bench/measure.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const struct measure_plan measure_default_plan = {.round_trips = 20000, .large = 2000};

uint64_t measure_now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double measure_median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

noreturn void measure_die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("bench: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

#define HALVES_MAX 4

void measure_wait(struct zwait *w, const struct sleeper *halves, size_t count)
{
	if (!zwait_step(w))
		return;
	struct pollfd fds[HALVES_MAX];
	for (size_t i = 0; i < count && i < HALVES_MAX; i++) {
		if (!halves[i].arm(halves[i].half))
			return;
		fds[i] = (struct pollfd){.fd = halves[i].fd, .events = halves[i].events};
	}
	if (poll(fds, count, -1) < 0 && errno != EINTR)
		measure_die("poll: %s", strerror(errno));
	zwait_reset(w);
}

static uint8_t *nth(uint8_t *large, unsigned i)
{
	return large + i % MEASURE_WINDOW * MEASURE_LARGE_BYTES;
}

void measure_send(const struct carrier *c, const struct measure_plan *plan, const char *title)
{
	char small[MEASURE_SMALL_BYTES] = "ping";
	double *times = malloc(plan->round_trips * sizeof(*times));
	uint8_t *large = malloc(MEASURE_WINDOW * MEASURE_LARGE_BYTES);
	if (!times || !large)
		measure_die("out of memory");
	memset(large, 1, MEASURE_WINDOW * MEASURE_LARGE_BYTES);
	unsigned warm = plan->round_trips / 10;
	for (unsigned i = 0; i < warm + plan->round_trips; i++) {
		uint64_t start = measure_now_ns();
		c->send(c->ctx, small, sizeof(small));
		c->receive(c->ctx, small, sizeof(small));
		if (i >= warm)
			times[i - warm] = (double)(measure_now_ns() - start) / 2e3;
	}
	double median = measure_median(times, plan->round_trips);
	double p99 = times[plan->round_trips / 100 * 99];
	for (unsigned i = 0; i < plan->large / 10; i++)
		c->send(c->ctx, nth(large, i), MEASURE_LARGE_BYTES);
	c->receive(c->ctx, small, sizeof(small));
	uint64_t start = measure_now_ns();
	for (unsigned i = 0; i < plan->large; i++)
		c->send(c->ctx, nth(large, i), MEASURE_LARGE_BYTES);
	c->receive(c->ctx, small, sizeof(small));
	double seconds = (double)(measure_now_ns() - start) / 1e9;
	printf("%-28s %8.2f us %8.2f us %9.0f MB/s\n", title, median, p99,
		(double)plan->large * (double)MEASURE_LARGE_BYTES / seconds / 1e6);
	fflush(stdout);
	free(times);
	free(large);
}

void measure_receive(const struct carrier *c, const struct measure_plan *plan)
{
	char small[MEASURE_SMALL_BYTES];
	uint8_t *large = malloc(MEASURE_WINDOW * MEASURE_LARGE_BYTES);
	if (!large)
		measure_die("out of memory");
	memset(large, 0, MEASURE_WINDOW * MEASURE_LARGE_BYTES);
	for (unsigned i = 0; i < plan->round_trips / 10 + plan->round_trips; i++) {
		c->receive(c->ctx, small, sizeof(small));
		c->send(c->ctx, small, sizeof(small));
	}
	const unsigned counts[] = {plan->large / 10, plan->large};
	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < counts[round]; i++)
			c->receive(c->ctx, nth(large, i), MEASURE_LARGE_BYTES);
		c->send(c->ctx, small, sizeof(small));
	}
	free(large);
}
