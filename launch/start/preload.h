/* SPDX-License-Identifier: BSD-3-Clause */
/* The value of LD_PRELOAD for the ranks. */
#ifndef ZIP_LAUNCH_PRELOAD_H
#define ZIP_LAUNCH_PRELOAD_H

#include "launch/base/argv.h"
#include "launch/plan/options.h"

/* Adds one word: `before`, and the value behind it. libzipper: NULL, if it is not preloaded. runtimes: of sanitizers,
 * or NULL. */
void zpreload_add(struct zargv *, const char *before, const struct zoptions *, const char *libzipper,
	const char *runtimes);

#endif
