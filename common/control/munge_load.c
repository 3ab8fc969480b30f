/* SPDX-License-Identifier: BSD-3-Clause */
/* The module for MUNGE, and what needs no libmunge, see munge.h. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/module.h"
#include "common/control/ctl_name.h"
#include "common/control/munge.h"

#define ENTRY_BYTES 4096 /* of a user, in the system's table */
#define ENTRY_MAX_BYTES (1 << 20)

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

/* The entry, with its texts in *buf, which is the caller's to free. 0 and NULL: there is none. Or a positive errno. */
static int find_entry(uint32_t uid, struct passwd *entry, struct passwd **found, char **buf)
{
	int rc = ERANGE;
	*found = NULL;
	*buf = NULL;
	for (size_t cap = ENTRY_BYTES; rc == ERANGE && cap <= ENTRY_MAX_BYTES; cap *= 2) {
		char *more = realloc(*buf, cap);
		if (!more)
			return ENOMEM;
		*buf = more;
		rc = getpwuid_r(uid, entry, more, cap, found);
	}
	return rc;
}

int zmunge_user_name(char user[ZCTL_NAME_MAX + 1], uint32_t uid, struct zerr *err)
{
	struct passwd entry, *found;
	char *buf;
	int rc = find_entry(uid, &entry, &found, &buf);
	if (rc != 0)
		rc = zerr_set(err, -rc, "MUNGE: the name of user id %u cannot be looked up on zipperd's host: %s", uid,
			strerror(rc));
	else if (!found)
		rc = zerr_set(err, -ENOENT, "MUNGE: user id %u has no name on zipperd's host", uid);
	else if (!zctl_name_ok(found->pw_name) || strchr(found->pw_name, '/'))
		rc = zerr_set(err, -EINVAL,
			"MUNGE: the name of user id %u is not one of 1 to %d printable characters without space, comma "
			"and slash",
			uid, ZCTL_NAME_MAX);
	else
		strcpy(user, found->pw_name); /* zctl_name_ok bounded it */
	free(buf);
	return rc;
}
