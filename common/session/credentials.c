/* SPDX-License-Identifier: BSD-3-Clause */
/* User and key from the environment, see credentials.h. */
#include "common/session/credentials.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/installed.h"
#include "common/control/ctl_name.h"
#include "common/control/keyfile.h"

int zcredentials_find_user(char user[ZCTL_NAME_MAX + 1], struct zerr *err)
{
	const char *said = getenv("ZIPPER_USER");
	bool is_said = said && *said;
	const struct passwd *entry = is_said ? NULL : getpwuid(geteuid());
	if (!is_said && !entry) {
		snprintf(user, ZCTL_NAME_MAX + 1, "uid%u", (unsigned)geteuid());
		return 0;
	}
	const char *name = is_said ? said : entry->pw_name;
	if (!zctl_name_ok(name))
		return zerr_set(err, -EINVAL, "%s is no name of 1 to %d printable characters without space and comma",
			is_said ? "ZIPPER_USER" : "the login name, which ZIPPER_USER can replace,", ZCTL_NAME_MAX);
	if (!zkeyfile_user_ok(name))
		return zerr_set(err, -EINVAL, "%s can have no key: there is a '/' in it, or a '#' at its beginning",
			is_said ? "ZIPPER_USER" : "the login name, which ZIPPER_USER can replace,");
	strcpy(user, name); /* zctl_name_ok bounded it */
	return 0;
}

/* Adds to the text how to get a key. */
static int advise(struct zerr *err, int rc, const char *user, const char *looked)
{
	if (rc != -ENOENT || !err)
		return rc;
	size_t len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len,
		"%s; \"zipperd --make-key %s\" prints a key, for this file and for that of zipperd", looked, user);
	return rc;
}

int zcredentials_find_key(const struct zauth_ops *auth, uint8_t key[ZAUTH_KEY_BYTES], const char *user,
	struct zerr *err)
{
	char path[4096];
	const char *hex = getenv("ZIPPER_KEY"), *file = getenv("ZIPPER_KEY_FILE"), *home = getenv("HOME");
	if (hex && *hex) {
		int rc = auth->parse_key(key, hex, err);
		return rc < 0 ? zerr_prefix(err, rc, "ZIPPER_KEY") : 0;
	}
	if (!file || !*file) {
		if (!home || !*home)
			return advise(err,
				zerr_set(err, -ENOENT, "none of ZIPPER_KEY, ZIPPER_KEY_FILE and HOME is set"), user,
				"");
		snprintf(path, sizeof(path), "%s/.zipper/key", home);
		return advise(err, zkeyfile_read(auth, key, path, user, err), user,
			", and neither ZIPPER_KEY nor ZIPPER_KEY_FILE is set");
	}
	return advise(err, zkeyfile_read(auth, key, file, user, err), user, "");
}

/* Finds the user who alone may read our credentials. */
static int find_reader(uint32_t *uid, struct zerr *err)
{
	const char *said = getenv("ZIPPER_MUNGE_USER"), *name = said && *said ? said : "zipper";
	const struct passwd *entry = getpwnam(name);
	char *end;
	*uid = entry ? entry->pw_uid : (uint32_t)strtoul(name, &end, 10);
	if (entry || (name[0] >= '0' && name[0] <= '9' && !*end))
		return 0;
	return zerr_set(err, -ENOENT, "MUNGE: there is no user %.64s here: ZIPPER_MUNGE_USER names the user of zipperd",
		name);
}

int zcredentials_find_munge(struct zmunge *munge, const char *module_dir, int rc, struct zerr *err)
{
	const char *said = getenv("ZIPPER_MUNGE"), *env_dir = getenv("ZIPPER_MODULE_DIR");
	const bool asked = said && *said;
	struct zerr why = {.text = ""};
	char installed[PATH_MAX];
	if (!asked && rc != -ENOENT)
		return rc;
	int yes = zmunge_parse(munge->socket, asked ? said : "yes", &why);
	if (yes == 0)
		return rc;
	if (yes > 0 && !module_dir && env_dir && *env_dir)
		module_dir = env_dir;
	if (yes > 0 && !module_dir) {
		zinstalled_find(installed, (const void *)find_reader, BINDIR, PKGLIBDIR, ZINSTALLED_MODULE);
		module_dir = installed;
	}
	if (yes > 0)
		yes = zmunge_load(&munge->ops, module_dir, &why);
	if (!asked && (yes < 0 || !munge->ops->is_there(munge->socket)))
		return rc;
	if (yes == 0)
		yes = find_reader(&munge->reader, &why);
	if (yes == 0)
		return 1;
	return zerr_set(err, yes, asked ? "ZIPPER_MUNGE: %s" : "%s", why.text);
}

static int parse(const struct zauth_ops *auth, uint8_t key[ZAUTH_KEY_BYTES], uint64_t *expires_s, const char *text,
	struct zerr *err)
{
	char *end;
	errno = 0;
	*expires_s = strtoull(text, &end, 10);
	if (errno != 0 || text[0] < '1' || text[0] > '9' || *end != ':')
		return zerr_set(err, -EINVAL, "it is not EXPIRES:KEY");
	return auth->parse_key(key, end + 1, err);
}

int zcredentials_find_rank(const struct zauth_ops *auth, uint8_t key[ZAUTH_KEY_BYTES], uint64_t *expires_s,
	const char *user, struct zerr *err)
{
	const char *text = getenv("ZIPPER_CREDENTIAL");
	const bool is_set = text && *text;
	*expires_s = 0;
	int rc = is_set ? parse(auth, key, expires_s, text, err) : zcredentials_find_key(auth, key, user, err);
	return rc == 0 ? 0 : zerr_prefix(err, rc, is_set ? "ZIPPER_CREDENTIAL" : "your key for zipperd");
}

void zcredentials_format(const struct zauth_ops *auth, char text[ZCREDENTIALS_TEXT_BYTES],
	const uint8_t key[ZAUTH_KEY_BYTES], const char *user, const char *job, uint64_t expires_s)
{
	uint8_t derived[ZAUTH_KEY_BYTES];
	auth->derive(derived, key, user, job, expires_s);
	int n = snprintf(text, ZCREDENTIALS_TEXT_BYTES, "%" PRIu64 ":", expires_s);
	for (int i = 0; i < ZAUTH_KEY_BYTES; i++)
		snprintf(text + n + 2 * i, 3, "%02x", derived[i]);
	auth->wipe(derived, sizeof(derived));
}
