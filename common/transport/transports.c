/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of transports, and loading the module of one, see transports.h. */
#include "common/transport/transports.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "common/base/module.h"
#include "common/transport/base/inherited.h"
#include "common/transport/verbs/verbs_module.h"

static const char *module_dir;
static const struct zverbs_options *verbs_options;
static const struct ztransport *verbs;

void ztransports_configure(const char *dir, const struct zverbs_options *options)
{
	module_dir = dir;
	verbs_options = options;
}

/* The module stays loaded, as links run its code. */
static const struct ztransport *load_verbs(struct zerr *err)
{
	char path[PATH_MAX];
	if (verbs)
		return verbs;
	if (!module_dir || !verbs_options) {
		zerr_set(err, -ENOTSUP, "verbs addresses are not for this program");
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/" ZVERBS_FILE, module_dir);
	if (access(path, F_OK) != 0) {
		zerr_set(err, -ENOTSUP,
			"there is no %s (built without libibverbs? Else module_dir, or for ranks ZIPPER_MODULE_DIR, "
			"says where " ZVERBS_FILE " lies)",
			path);
		return NULL;
	}
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!file) {
		zerr_set(err, -ENOTSUP, "no verbs on this host: %s", dlerror());
		return NULL;
	}
	const struct zverbs_module *module = dlsym(file, ZVERBS_SYMBOL);
	if (!module) {
		zerr_set(err, -ENOTSUP, "no verbs on this host: %s has no " ZVERBS_SYMBOL, path);
		dlclose(file);
		return NULL;
	}
	if (zmodule_check(module->release, path, err) != 0) {
		dlclose(file);
		return NULL;
	}
	module->configure(verbs_options, zinherited_take);
	verbs = module->transport;
	return verbs;
}

/* Each kind of address has a transport, or a module that brings one. */
static const struct {
	const struct ztransport *ops;
	const struct ztransport *(*load)(struct zerr *);
} table[ZADDR_KINDS] = {
	[ZADDR_TCP] = {.ops = &ztransport_tcp},
	[ZADDR_SHM] = {.ops = &ztransport_shm},
	[ZADDR_VERBS] = {.load = load_verbs},
};

const struct ztransport *ztransports_find(enum zaddr_kind kind, struct zerr *err)
{
	if (table[kind].ops)
		return table[kind].ops;
	if (table[kind].load)
		return table[kind].load(err);
	zerr_set(err, -EINVAL, "no transport address given");
	return NULL;
}
