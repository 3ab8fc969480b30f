/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, clocks and programs, for all subcommands; see bench.h. */
#include "zipbench/base/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/base/installed.h"

bool bench_beside(char *path, const char *name)
{
	char self[BENCH_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n < 0 ? 0 : n] = 0;
	char *end = strrchr(self, '/');
	int len = snprintf(path, BENCH_PATH_MAX, "%.*s/%s", end ? (int)(end - self) : 0, self, name);
	if (len >= BENCH_PATH_MAX)
		return false;
	return access(path, X_OK) == 0;
}

void bench_program(char *path, const char *command)
{
	char name[64], folder[PATH_MAX];
	snprintf(name, sizeof(name), "zipbench-%s", command);
	if (bench_beside(path, name))
		return;
	zinstalled_find(folder, (const void *)bench_program, BINDIR, PKGLIBEXECDIR, name);
	if (snprintf(path, BENCH_PATH_MAX, "%s/%s", folder, name) >= BENCH_PATH_MAX)
		snprintf(path, BENCH_PATH_MAX, "%s", name); /* the error names it */
}

void bench_zmpirun(char *path)
{
	if (!bench_beside(path, "zmpirun") && !bench_beside(path, "../launch/zmpirun"))
		snprintf(path, BENCH_PATH_MAX, "zmpirun");
}

int bench_fail(const char *command, const struct zerr *err)
{
	fprintf(stderr, "zipbench %s: %s\n", command, err->text);
	return EXIT_FAILURE;
}

double bench_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_cpu_seconds(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}
