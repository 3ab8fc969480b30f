/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment that tells libzipper.so in a rank which job it belongs to. It is set on mpiexec, which passes it on.
 */
#ifndef ZIP_LAUNCH_ENVIRON_H
#define ZIP_LAUNCH_ENVIRON_H

#include <stdbool.h>

#include "launch/base/argv.h"

/* Values of the variables; NULL: not set. All parts get the same values, except for part, zipperd, ports and device. */
struct zenviron {
	const char *job, *parts, *part, *zipperd, *user;
	const char *entries;	/* where ranks reach zipperds over hops */
	const char *credential; /* secret: never on a command line */
	const char *ports;	/* the ranks that run on zipper nodes */
	const char *device;	/* where the hostfile names one; else the variable stays as it is */
	const char *reconnect;	/* NULL: the variable stays as it is */
	const char *module_dir; /* only in the build tree */
	bool stats;		/* ranks also count the messages that travel natively */
};

/* The variable that names the file to record to. */
#define ZENVIRON_PROFILE "ZIPPER_PROFILE"

/* Does zmpirun set (or unset) this variable itself? Then a user may not. */
bool zenviron_is_ours(const char *name);
/* Names of all variables that a rank may need, comma-separated: for mpiexec's -envlist. */
const char *zenviron_names(void);
/* The value that the ranks of all programs get for a variable that zmpirun does not set: from -genv in the options for
 * every mpiexec, else from our own environment. NULL: no value. */
const char *zenviron_find(const struct zargv *globals, const char *name);
/* The last value of an option of one section. name: the first argument of an option with two of them, else NULL. NULL:
 * it is not there. */
const char *zenviron_find_local(const struct zargv *locals, const char *option, const char *name);
/* Makes our own environment with these variables set. Other variables that zmpirun sets are taken out. */
void zenviron_build(struct zargv *, const struct zenviron *);

#endif
