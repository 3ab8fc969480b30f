/* SPDX-License-Identifier: BSD-3-Clause */
/* The module for MUNGE, and what needs no libmunge, see munge.h. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/module.h"
#include "common/control/munge.h"

#define ENTRY_BYTES 4096 /* of a user, in the system's table */

int zmunge_load(const struct zmunge_ops **out, const char *module_dir, struct zerr *err)
{
	char path[PATH_MAX];
	snprintf(path, sizeof(path), "%s/" ZMUNGE_FILE, module_dir);
	if (access(path, F_OK) != 0)
		return zerr_set(err, -ENOENT, "there is no %s (built without libmunge?)", path);
	void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!file)
		return zerr_set(err, -ENOENT, "no MUNGE on this host: %s", dlerror());
	const struct zmunge_ops *ops = dlsym(file, ZMUNGE_SYMBOL);
	int rc =
		ops ? zmodule_check(ops->release, path, err) : zerr_set(err, -ENOENT, "%s has no " ZMUNGE_SYMBOL, path);
	if (rc != 0)
		dlclose(file);
	else
		*out = ops;
	return rc;
}

int zmunge_parse(char socket[ZMUNGE_SOCKET_MAX], const char *value, struct zerr *err)
{
	socket[0] = '\0';
	if (strcmp(value, "no") == 0)
		return 0;
	if (strcmp(value, "yes") == 0)
		return 1;
	if (value[0] != '/' || strlen(value) >= ZMUNGE_SOCKET_MAX)
		return zerr_set(err, -EINVAL, "'%.120s' is not yes, no or the path of munged's socket", value);
	strcpy(socket, value);
	return 1;
}

void zmunge_user_name(char user[ZCTL_NAME_MAX + 1], uint32_t uid)
{
	struct passwd entry, *found = NULL;
	char buf[ENTRY_BYTES];
	if (getpwuid_r(uid, &entry, buf, sizeof(buf), &found) == 0 && found)
		snprintf(user, ZCTL_NAME_MAX + 1, "%s", found->pw_name);
	else
		snprintf(user, ZCTL_NAME_MAX + 1, "uid%u", uid);
}
