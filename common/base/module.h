/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules (zipauth.so, zipverbs.so) share tables with who loads them, which change from release to release: both must
 * be of one. The first entry of each module's table says of which it is. */
#ifndef ZIP_COMMON_BASE_MODULE_H
#define ZIP_COMMON_BASE_MODULE_H

#include <errno.h>
#include <string.h>

#include "common/base/err.h"
#include "config.h"

#define ZMODULE_RELEASE PACKAGE_VERSION

/* 0 or -ENOEXEC with the reason; path: the module's. What is compared may be code, of a module that is older than this:
 * so it is not told. */
static inline int zmodule_check(const char *release, const char *path, struct zerr *err)
{
	return strncmp(release, ZMODULE_RELEASE, sizeof(ZMODULE_RELEASE)) == 0
		       ? 0
		       : zerr_set(err, -ENOEXEC, "%s is of another release than what loads it, " ZMODULE_RELEASE, path);
}

#endif
