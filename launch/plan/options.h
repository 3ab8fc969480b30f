/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of zmpirun: what people type after mpirun, and a few options of our own. */
#ifndef ZIP_LAUNCH_OPTIONS_H
#define ZIP_LAUNCH_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "launch/base/argv.h"
#include "common/base/err.h"

struct zsection {	     /* what stands between two ':' */
	int nranks;	     /* 0: not given */
	struct zargv locals; /* options for this section of every mpiexec */
	char **argv;	     /* program and arguments, in the caller's vector, not terminated */
	int argc;
};

struct zoptions {
	const char *hostfile, *clusters, *map; /* as written, or NULL */
	const char *zipperd;
	const char *launcher, *launcher_exec, *iface;
	int ppn;       /* 0: not given */
	int rails;     /* 0: not given */
	int timeout_s; /* for all ranks to report */
	bool label;    /* -l */
	bool oversubscribe, stats, verbose, no_mpi, help, version;
	bool binds;	      /* -bind-to, -map-by */
	char *preload;	      /* libraries that the user preloads by -genv or -env LD_PRELOAD, or NULL; owned */
	struct zargv globals; /* options for every mpiexec */
	struct zsection *sections;
	int nsections;
};

/* 0, or a negative errno with one line for the user. argv is kept, not copied. Free with zoptions_free in any case. */
int zoptions_parse(struct zoptions *, int argc, char **argv, struct zerr *);
void zoptions_free(struct zoptions *);
void zoptions_print_help(FILE *);
/* The number of ranks that all sections ask for together; 0 if they do not say. 0 or -EINVAL. */
int zoptions_count_ranks(const struct zoptions *, int *nranks, struct zerr *);

/* A positive decimal number of at most max, and nothing else; -EINVAL otherwise. */
int zoptions_parse_count(int *count, const char *text, int max);

#endif
