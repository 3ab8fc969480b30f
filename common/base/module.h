/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules (zipauth.so, zipverbs.so) share tables with the programs that load them. The tables change from release to
 * release, so both sides must be of one release. The first entry of each module's table names its release. */
#ifndef ZIP_COMMON_BASE_MODULE_H
#define ZIP_COMMON_BASE_MODULE_H

#include <errno.h>
#include <string.h>

#include "common/base/err.h"
#include "config.h"

#define ZMODULE_RELEASE PACKAGE_VERSION

/* Compares releases. path: the module's. Returns 0, or -ENOEXEC with the reason. The text does not show the module's
 * entry, which is code in an older module. */
static inline int zmodule_check(const char *release, const char *path, struct zerr *err)
{
	return strncmp(release, ZMODULE_RELEASE, sizeof(ZMODULE_RELEASE)) == 0
		       ? 0
		       : zerr_set(err, -ENOEXEC, "%s is of another release than what loads it, " ZMODULE_RELEASE, path);
}

#endif
