/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment that tells libzipper.so of a rank which job it belongs to. Set on mpiexec, which passes it on. */
#ifndef ZIP_LAUNCH_ENVIRON_H
#define ZIP_LAUNCH_ENVIRON_H

#include <stdbool.h>

#include "launch/base/argv.h"

/* Values of the variables, NULL: not set. The same for all parts but for part, zipperd, ports and device. */
struct zenviron {
	const char *job, *parts, *part, *zipperd, *user;
	const char *entries;	/* where hops are needed */
	const char *key;	/* secret: never on a command line */
	const char *ports;	/* which ranks run on zipper nodes */
	const char *device;	/* where the hostfile says so; else it stays as it is */
	const char *module_dir; /* only in the build tree */
	bool stats;		/* ranks count what goes natively too */
};

/* Does zmpirun set (or unset) this variable, so that nobody else may? */
bool zenviron_is_ours(const char *name);
/* Names of all variables that a rank may need, comma-separated: for mpiexec's -envlist. */
const char *zenviron_names(void);
/* What the ranks of all programs get for a variable that is not ours: by -genv in the options for every mpiexec, else
 * from our own environment. NULL: nothing. */
const char *zenviron_find(const struct zargv *globals, const char *name);
/* Our own environment with these variables set, and all others that are ours taken out. */
void zenviron_build(struct zargv *, const struct zenviron *);

#endif
