/* SPDX-License-Identifier: BSD-3-Clause */
/* Key files, see keyfile.h. */
#define _GNU_SOURCE /* timegm */
#include "common/control/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/lines.h"
#include "common/control/ctl_name.h"

#define LINE_MAX_BYTES 512 /* user, key and day need 64 + 1 + 64 + 1 + 16 */
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

int zkeyfile_parse_day(uint64_t *until_s, const char *day, struct zerr *err)
{
	struct tm tm = {.tm_isdst = 0};
	const char *end = strptime(day, "%Y-%m-%d", &tm);
	const int year = tm.tm_year, month = tm.tm_mon, of_month = tm.tm_mday;
	const time_t begin = end && !*end && strlen(day) == 10 ? timegm(&tm) : -1;
	/* timegm makes 3 March of 31 February */
	if (begin < 0 || tm.tm_year != year || tm.tm_mon != month || tm.tm_mday != of_month)
		return zerr_set(err, -EINVAL, "'%.32s' is not a day as 2030-12-31", day);
	*until_s = (uint64_t)begin + 24 * 3600;
	return 0;
}

static int parse_option(struct zkeyfile_key *k, const char *word, struct zerr *err)
{
	if (strncmp(word, "until=", 6) != 0)
		return zerr_set(err, -EINVAL,
			"a line is a user name and a key, and until=YYYY-MM-DD if the key has an end");
	return zkeyfile_parse_day(&k->until_s, word + 6, err);
}

int zkeyfile_parse(const struct zauth_ops *auth, struct zkeyfile_key *k, char *line, struct zerr *err)
{
	char *save = NULL;
	const char *user = strtok_r(line, " \t\r\n", &save);
	if (!user || *user == '#')
		return 0;
	const char *hex = strtok_r(NULL, " \t\r\n", &save);
	const char *option = strtok_r(NULL, " \t\r\n", &save);
	const char *rest = option && *option != '#' ? strtok_r(NULL, " \t\r\n", &save) : NULL;
	if (!hex || (rest && *rest != '#'))
		return zerr_set(err, -EINVAL, "a line is a user name and a key");
	if (!zkeyfile_user_ok(user))
		return zerr_set(err, -EINVAL, "bad user name");
	*k = (struct zkeyfile_key){.until_s = 0};
	strcpy(k->user, user); /* zctl_name_ok bounded it */
	int rc = auth->parse_key(k->key, hex, err);
	if (rc == 0 && option && *option != '#')
		rc = parse_option(k, option, err);
	return rc == 0 ? 1 : rc;
}

static int parse_line(struct keyfile *f, struct zkeyfile_key *k, char *line, struct zerr *err)
{
	int rc = zkeyfile_parse(f->auth, k, line, err);
	if (rc <= 0)
		return rc;
	rc = note_user(f, k->user);
	if (rc == -EEXIST)
		return zerr_set(err, -EINVAL, "user %s has a key already", k->user);
	return rc == 0 ? 1 : zerr_set(err, rc, "%s", strerror(-rc));
}

int zkeyfile_read_all(const struct zauth_ops *auth, const char *path,
	int (*found)(void *ctx, const struct zkeyfile_key *), void *ctx, struct zerr *err)
{
	struct keyfile f = {.auth = auth};
	char line[LINE_MAX_BYTES];
	struct zkeyfile_key key;
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
		if (!strchr(line, '\n') && strlen(line) == sizeof(line) - 1)
			rc = zerr_set(err, -EINVAL, "the line is too long");
		else
			rc = parse_line(&f, &key, n == 1 ? zlines_skip_mark(line) : line, err);
		if (rc < 0)
			zerr_prefix(err, rc, "%s:%d", path, n);
		else if (rc > 0)
			rc = found(ctx, &key);
	}
	if (rc == 0 && ferror(in))
		rc = zerr_set(err, -EIO, "%s: cannot be read", path);
	fclose(in);
	auth->wipe(line, sizeof(line));
	auth->wipe(&key, sizeof(key));
	free(f.seen);
	return rc;
}

struct wanted {
	const char *user;
	uint8_t *key;
	uint64_t until_s;
};

static int found_one(void *ctx, const struct zkeyfile_key *k)
{
	struct wanted *w = ctx;
	if (strcmp(w->user, k->user) != 0)
		return 0;
	memcpy(w->key, k->key, ZAUTH_KEY_BYTES);
	w->until_s = k->until_s;
	return 1;
}

int zkeyfile_read(const struct zauth_ops *auth, uint8_t key[ZAUTH_KEY_BYTES], const char *path, const char *user,
	struct zerr *err)
{
	struct wanted w = {.user = user, .key = key};
	int rc = zkeyfile_read_all(auth, path, found_one, &w, err);
	if (rc == 1 && w.until_s != 0 && (uint64_t)time(NULL) >= w.until_s)
		return zerr_set(err, -EKEYEXPIRED, "%s: the key of user %s has expired: ask for a new one", path, user);
	if (rc == 1)
		return 0;
	if (rc == 0)
		return zerr_set(err, -ENOENT, "%s: there is no key for user %s", path, user);
	return rc;
}
