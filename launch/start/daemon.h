/* SPDX-License-Identifier: BSD-3-Clause */
/* The zipperds that zmpirun starts for one job, where none is running. */
#ifndef ZIP_LAUNCH_DAEMON_H
#define ZIP_LAUNCH_DAEMON_H

#include <sys/types.h>

#include "launch/base/argv.h"
#include "launch/plan/route.h"
#include "launch/base/scratch.h"

struct zdaemon_params {
	const char *path;	/* path of the program */
	const char *user, *key; /* the user whom it serves, and the secret in 64 hexadecimal digits */
	int join_timeout_s;
	const char *module_dir;	     /* NULL: zipperd's default */
	const struct zargv *globals; /* options for every mpiexec */
	bool verbose;
	const char *cpus; /* cores that it runs on; NULL: any */
	int number;	  /* part of its files' names; every daemon has another number */
};

struct zdaemon {   /* one daemon */
	pid_t pid; /* 0: not started by us */
	int log;   /* read end of its stderr; the caller's once it is started */
};

/* Writes configuration and key into scratch, starts a daemon, waits until it listens, and fills in its addresses
 * (route->port). 0, or a negative errno with the reason that the daemon gave; then only the files are left. */
int zdaemon_start(struct zdaemon *, const struct zdaemon_params *, struct zroute *, const struct zscratch *,
	struct zerr *);
/* Asks all n daemons to end, and kills those that have not done so within a second. */
void zdaemon_stop(struct zdaemon *, int n);

#endif
