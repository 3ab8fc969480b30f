/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of zmpirun: the words that people type after mpirun, and a few options of our own. */
#ifndef ZIP_LAUNCH_OPTIONS_H
#define ZIP_LAUNCH_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "launch/base/argv.h"
#include "common/base/err.h"
#include "launch/plan/mpi.h"

struct zsection {	     /* the words between two ':' */
	int nranks;	     /* 0: not given */
	struct zargv locals; /* options of this section, for every mpiexec */
	char **argv;	     /* program and arguments in the caller's vector, not terminated */
	int argc;
	/* runtimes of sanitizers that the program is linked with, ':' between them, for LD_PRELOAD; NULL: none, or not
	 * known; owned; set by zprogram_check */
	char *runtimes;
	enum zmpi mpi; /* that the program is linked with; set by zprogram_check */
	bool standard; /* its MPI by the standard ABI; set by zprogram_check */
};

struct zoptions {
	const char *hostfile, *clusters, *map; /* as written, or NULL */
	const char *hosts;		       /* of the hostfile: only these; or NULL */
	const char *outfile, *errfile;	       /* patterns of files for the ranks' output, or NULL */
	const char *prepend;		       /* pattern in front of each line, where label is set; NULL: "[%r] " */
	const char *configfile;
	const char *zipperd;
	const char *mpi; /* of --mpi, as written, or NULL */
	const char *launcher, *launcher_exec, *iface;
	int ppn;		/* 0: not given */
	int rails;		/* 0: not given */
	int universe;		/* MPI_UNIVERSE_SIZE; 0: not given */
	int init_timeout_s;	/* time for all ranks to report */
	int timeout_s;		/* time for the whole run; 0: no end */
	const char *reconnect;	/* as written, or NULL */
	int lifetime_days;	/* of the job credential */
	const char *credential; /* the job for which one is printed, in place of a start; or NULL */
	bool label;		/* -l */
	bool check;		/* try what this command line needs, and start no program; there may be none */
	bool oversubscribe, profile, stats, progress, verbose, no_mpi, help, version, info;
	bool binds;	      /* -bind-to, -map-by */
	char *preload;	      /* libraries that the user preloads with -genv or -env LD_PRELOAD; NULL: none; owned */
	struct zargv globals; /* options for every mpiexec */
	struct zsection *sections;
	int nsections;
	struct zargv words; /* of the file of -configfile, with the command line before it; sections point into it */
};

/* Parses argv, which is kept and not copied. 0, or a negative errno with one line for the user. Free with zoptions_free
 * in any case. */
int zoptions_parse(struct zoptions *, int argc, char **argv, struct zerr *);
void zoptions_free(struct zoptions *);
void zoptions_print_help(FILE *);
/* The time for the whole run that MPIEXEC_TIMEOUT names, as for mpiexec, where -timeout does not. 0 or -EINVAL. */
int zoptions_take_environment(struct zoptions *, struct zerr *);
/* Refuses a command line without hosts. -EINVAL. */
int zoptions_need_hosts(struct zerr *);
/* Counts the ranks that all sections ask for together; 0 if they do not say. 0 or -EINVAL. */
int zoptions_count_ranks(const struct zoptions *, int *nranks, struct zerr *);

/* The index of the section that a rank of the merged world belongs to. */
int zoptions_find_section(const struct zoptions *, int vrank);

/* Parses a decimal number from 1 to max and nothing else. 0 or -EINVAL. */
int zoptions_parse_count(int *count, const char *text, int max);

#endif
