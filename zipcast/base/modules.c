/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of Verbs, under the names that ranks use for them; see modules.h. */
#include "zipcast/base/modules.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base/installed.h"
#include "common/config/conf.h"
#include "common/transport/transports.h"
#include "common/transport/verbs/device/verbs_options.h"
#include "common/transport/verbs/verbs_module.h"

static struct settings { /* static: the module keeps pointers to them */
	struct zverbs_options verbs;
	char *module_dir;
	int64_t one_sided;
} settings;

static const char *const one_sided_choices[] = {"auto", "yes", "no", NULL};

static const struct zconf_row rows[] = {
	{.name = "module_dir",
		.type = ZCONF_STRING,
		.preset = PKGLIBDIR,
		.offset = offsetof(struct settings, module_dir),
		.help = "Where " ZVERBS_FILE " lies, which is loaded where an address is a port of an RDMA device."},
	{.name = "device",
		.type = ZCONF_STRING,
		.offset = offsetof(struct settings, verbs.device),
		.help = "DEVICE:PORT: the port of an RDMA device that connections start from."},
	{.name = "one_sided",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = one_sided_choices,
		.offset = offsetof(struct settings, one_sided),
		.help = "Whether blocks go straight into the receiver's memory: auto, where it is faster, yes or no."},
	ZVERBS_RANK_ENDPOINTS_ROW(struct settings),
	ZVERBS_ROWS(struct settings),
	ZVERBS_MEMORY_ROWS(struct settings),
	{.name = NULL},
};

/* zipbench has the library in it, and lies elsewhere. */
static int find_modules(struct zerr *err)
{
	char path[PATH_MAX];
	if (!zinstalled_find(path, rows, LIBDIR, PKGLIBDIR, ZINSTALLED_MODULE) &&
		!zinstalled_find(path, rows, BINDIR, PKGLIBDIR, ZINSTALLED_MODULE))
		return 0;
	return zconf_set(rows, &settings, "module_dir", path, NULL, err);
}

int zmodules_configure(struct zerr *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool done;
	int rc = 0;
	pthread_mutex_lock(&lock);
	if (!done) {
		zconf_free(rows, &settings); /* of an earlier call that failed */
		rc = zconf_defaults(rows, &settings, err);
		if (rc == 0)
			rc = find_modules(err);
		if (rc == 0)
			rc = zconf_environ(rows, &settings, "ZIPPER", zconf_others, err);
		if (rc == 0)
			ztransports_configure(settings.module_dir, &settings.verbs);
		/* loaded here under the lock: several threads may open contexts, and later calls only read */
		if (rc == 0 && !ztransports_find(ZADDR_VERBS, err))
			rc = -EPROTONOSUPPORT;
		done = rc == 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

enum zmodules_one_sided zmodules_one_sided(void)
{
	return (enum zmodules_one_sided)settings.one_sided;
}
