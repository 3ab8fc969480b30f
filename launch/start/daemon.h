/* SPDX-License-Identifier: BSD-3-Clause */
/* The zipperds that zmpirun starts for one job, where none is running. */
#ifndef ZIP_LAUNCH_DAEMON_H
#define ZIP_LAUNCH_DAEMON_H

#include <sys/types.h>

#include "launch/base/argv.h"
#include "launch/plan/route.h"
#include "launch/base/scratch.h"

struct zdaemon_params {
	const char *path;	/* of the program */
	const char *user, *key; /* who may use it: the secret in 64 hexadecimal digits */
	int join_timeout_s;
	const char *module_dir;	     /* NULL: zipperd's default */
	const struct zargv *globals; /* options for every mpiexec */
	bool verbose;
	const char *cpus; /* that it runs on; NULL: any */
	int number;	  /* of its files; another one for each */
};

struct zdaemon {   /* one of them */
	pid_t pid; /* 0: none of ours */
	int log;   /* read end of its stderr; the caller's once started */
};

/* Writes configuration and key into scratch, starts it, waits until it listens and fills in where (route->port).
 * 0, or a negative errno with the reason that it gave; then nothing is left of it but the files. */
int zdaemon_start(struct zdaemon *, const struct zdaemon_params *, struct zroute *, const struct zscratch *,
	struct zerr *);
/* Asks all n to end, and ends those that have not done so in a second. */
void zdaemon_stop(struct zdaemon *, int n);

#endif
