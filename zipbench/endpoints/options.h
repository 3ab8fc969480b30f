/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of the subcommands on endpoints. A subcommand sets the defaults, and names the bits of the options it takes.
 */
#ifndef ZIPBENCH_ENDPOINTS_OPTIONS_H
#define ZIPBENCH_ENDPOINTS_OPTIONS_H

#include <stdbool.h>

#include "common/endpoint/endpoint.h"
#include "zipbench/base/bench.h"

enum {
	OPT_THREADS = 1 << 0,
	OPT_COUNT = 1 << 1,
	OPT_SIZE = 1 << 2,
	OPT_DEPTH = 1 << 3,
	OPT_BATCH = 1 << 4,
	OPT_SHARE = 1 << 5,
	OPT_TILE = 1 << 6,
	OPT_CATEGORY = 1 << 7,
};

struct bench_options {
	const char *device;
	unsigned port;
	int gid_index; /* -1: found */
	unsigned threads;
	unsigned count; /* messages of each thread, or iterations */
	unsigned size;	/* bytes of a message, or elements of a side of the matrix or grid */
	unsigned tile;	/* elements of a side, or bytes of a message */
	unsigned depth, postlist, unsignalled;
	unsigned rounds;
	char *share; /* what msgrate sweeps, comma-separated */
	bool category[ZEP_CATEGORIES];
	const char *csv;  /* file, or NULL: standard output */
	const char *plot; /* base of file names, or NULL */
};

struct options_use {
	const char *program, *usage; /* as in struct zargs */
	unsigned takes;
};

/* True: go on. False: end with *status; an error is on stderr. */
bool options_read(struct bench_options *, const struct options_use *, int argc, char **argv, int *status);

#endif
