/* SPDX-License-Identifier: BSD-3-Clause */
/* Key files: lines "USER HEXKEY". Start-up (and zipperd's reload); one thread. */
#include "common/control/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/lines.h"
#include "common/control/ctl_name.h"

#define LINE_MAX_BYTES 512 /* user and key need 64 + 1 + 64 */
#define USERS_MAX 65536

struct keyfile {
	const struct zauth_ops *auth;
	char (*seen)[ZCTL_NAME_MAX + 1];
	int nseen;
};

static int open_private(const char *path, struct zerr *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	struct stat st;
	int rc;
	if (fstat(fd, &st) != 0)
		rc = zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rc = zerr_set(err, -EINVAL, "%s: a key file must be a regular file", path);
	else if (st.st_uid != geteuid() && st.st_uid != 0)
		rc = zerr_set(err, -EACCES, "%s: the key file belongs to somebody else (uid %u)", path,
			(unsigned)st.st_uid);
	else if (st.st_mode & 077)
		rc = zerr_set(err, -EACCES, "%s: others may use this key file (mode %03o): chmod 600 %s", path,
			(unsigned)st.st_mode & 0777, path);
	else
		return fd;
	close(fd);
	return rc;
}

static int note_user(struct keyfile *f, const char *user)
{
	for (int i = 0; i < f->nseen; i++)
		if (strcmp(f->seen[i], user) == 0)
			return -EEXIST;
	if (f->nseen == USERS_MAX)
		return -E2BIG;
	if ((f->nseen & (f->nseen - 1)) == 0) { /* grow at powers of two */
		size_t cap = f->nseen ? 2 * (size_t)f->nseen : 1;
		void *more = realloc(f->seen, cap * sizeof(*f->seen));
		if (!more)
			return -ENOMEM;
		f->seen = more;
	}
	strcpy(f->seen[f->nseen++], user); /* zctl_name_ok bounded it */
	return 0;
}

bool zkeyfile_user_ok(const char *user)
{
	/* USER/JOB tells jobs apart, and '#' begins a comment. */
	return zctl_name_ok(user) && !strchr(user, '/') && *user != '#';
}

/* Reads one line, which it may cut up. *user stays NULL where the line holds no key. */
static int parse_line(struct keyfile *f, char *line, char **user, uint8_t key[ZAUTH_KEY_BYTES], struct zerr *err)
{
	char *save = NULL;
	*user = strtok_r(line, " \t\r\n", &save);
	if (!*user || **user == '#') {
		*user = NULL;
		return 0;
	}
	char *hex = strtok_r(NULL, " \t\r\n", &save);
	char *rest = strtok_r(NULL, " \t\r\n", &save);
	if (!hex || (rest && *rest != '#'))
		return zerr_set(err, -EINVAL, "a line is a user name and a key");
	if (!zkeyfile_user_ok(*user))
		return zerr_set(err, -EINVAL, "bad user name");
	int rc = f->auth->parse_key(key, hex, err);
	if (rc != 0)
		return rc;
	rc = note_user(f, *user);
	if (rc == -EEXIST)
		return zerr_set(err, -EINVAL, "user %s has a key already", *user);
	return rc == 0 ? 0 : zerr_set(err, rc, "%s", strerror(-rc));
}

int zkeyfile_read_all(const struct zauth_ops *auth, const char *path,
	int (*found)(void *ctx, const char *user, const uint8_t key[ZAUTH_KEY_BYTES]), void *ctx, struct zerr *err)
{
	struct keyfile f = {.auth = auth};
	char line[LINE_MAX_BYTES];
	uint8_t key[ZAUTH_KEY_BYTES];
	int fd = open_private(path, err);
	if (fd < 0)
		return fd;
	FILE *in = fdopen(fd, "r");
	if (!in) {
		int rc = -errno;
		close(fd);
		return zerr_set(err, rc, "%s: %s", path, strerror(-rc));
	}
	setvbuf(in, NULL, _IONBF, 0); /* so that no key stays in a buffer that nobody wipes */
	int rc = 0;
	for (int n = 1; rc == 0 && fgets(line, sizeof(line), in); n++) {
		char *user = NULL;
		if (!strchr(line, '\n') && strlen(line) == sizeof(line) - 1)
			rc = zerr_set(err, -EINVAL, "the line is too long");
		else
			rc = parse_line(&f, n == 1 ? zlines_skip_mark(line) : line, &user, key, err);
		if (rc != 0)
			zerr_prefix(err, rc, "%s:%d", path, n);
		else if (user)
			rc = found(ctx, user, key);
	}
	if (rc == 0 && ferror(in))
		rc = zerr_set(err, -EIO, "%s: cannot be read", path);
	fclose(in);
	auth->wipe(line, sizeof(line));
	auth->wipe(key, sizeof(key));
	free(f.seen);
	return rc;
}

struct wanted {
	const char *user;
	uint8_t *key;
};

static int found_one(void *ctx, const char *user, const uint8_t key[ZAUTH_KEY_BYTES])
{
	struct wanted *w = ctx;
	if (strcmp(w->user, user) != 0)
		return 0;
	memcpy(w->key, key, ZAUTH_KEY_BYTES);
	return 1;
}

int zkeyfile_read(const struct zauth_ops *auth, uint8_t key[ZAUTH_KEY_BYTES], const char *path, const char *user,
	struct zerr *err)
{
	struct wanted w = {.user = user, .key = key};
	int rc = zkeyfile_read_all(auth, path, found_one, &w, err);
	if (rc == 1)
		return 0;
	if (rc == 0)
		return zerr_set(err, -ENOENT, "%s: there is no key for user %s", path, user);
	return rc;
}
