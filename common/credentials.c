/* SPDX-License-Identifier: BSD-3-Clause */
/* User and key from the environment, see credentials.h. */
#include "credentials.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void zcred_find_user(char user[ZCTL_NAME_MAX + 1])
{
	const char *said = getenv("ZIPPER_USER");
	const struct passwd *entry = said && *said ? NULL : getpwuid(geteuid());
	if (said && *said)
		snprintf(user, ZCTL_NAME_MAX + 1, "%s", said);
	else if (entry)
		snprintf(user, ZCTL_NAME_MAX + 1, "%s", entry->pw_name);
	else
		snprintf(user, ZCTL_NAME_MAX + 1, "uid%u", (unsigned)geteuid());
}

int zcred_find_key(const struct zauth_ops *auth, uint8_t key[ZAUTH_KEY_BYTES], const char *user, struct zerr *err)
{
	char path[4096];
	const char *hex = getenv("ZIPPER_KEY"), *file = getenv("ZIPPER_KEY_FILE"), *home = getenv("HOME");
	if (hex && *hex) {
		int rc = auth->parse_key(key, hex, err);
		return rc < 0 ? zerr_prefix(err, rc, "ZIPPER_KEY") : 0;
	}
	if (!file || !*file) {
		snprintf(path, sizeof(path), "%s/.zipper/key", home ? home : "");
		file = path;
	}
	return zauth_read_key(auth, key, file, user, err);
}
