/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes key files, see keytool.h. */
#include "zipperd/main/keytool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/lines.h"
#include "common/control/keyfile.h"

#define LINE_MAX_BYTES 512

int keytool_make(const char *user, const char *until, FILE *out, struct zerr *err)
{
	uint8_t key[ZAUTH_KEY_BYTES];
	uint64_t until_s;
	if (!zkeyfile_user_ok(user))
		return zerr_set(err, -EINVAL, "--make-key: '%.64s' is no name of a user", user);
	if (until && zkeyfile_parse_day(&until_s, until, err) != 0)
		return zerr_prefix(err, -EINVAL, "--until");
	zauth_module.random(key, sizeof(key));
	fprintf(out, "%s ", user);
	for (size_t i = 0; i < sizeof(key); i++)
		fprintf(out, "%02x", key[i]);
	fprintf(out, until ? " until=%s\n" : "\n", until);
	zauth_module.wipe(key, sizeof(key));
	return 0;
}

/* The lines that are to be put in. */
struct lines {
	char (*line)[LINE_MAX_BYTES];
	struct zkeyfile_key *key;
	size_t n;
};

static void free_lines(struct lines *l)
{
	if (l->line)
		zauth_module.wipe(l->line, l->n * sizeof(*l->line));
	if (l->key)
		zauth_module.wipe(l->key, l->n * sizeof(*l->key));
	free(l->line);
	free(l->key);
}

static int add_key(struct lines *l, const char *text, const struct zkeyfile_key *key, struct zerr *err)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->key[i].user, key->user) == 0)
			return zerr_set(err, -EINVAL, "user %s has a key already", key->user);
	/* no realloc: it would leave the keys in freed memory */
	struct lines more = {.line = calloc(l->n + 1, sizeof(*more.line)), .key = calloc(l->n + 1, sizeof(*more.key))};
	if (!more.line || !more.key) {
		free_lines(&more);
		return zerr_set(err, -ENOMEM, "out of memory");
	}
	more.n = l->n + 1;
	if (l->n > 0) {
		memcpy(more.line, l->line, l->n * sizeof(*more.line));
		memcpy(more.key, l->key, l->n * sizeof(*more.key));
	}
	strcpy(more.line[l->n], text);
	more.key[l->n] = *key;
	free_lines(l);
	*l = more;
	return 0;
}

static int add_line(struct lines *l, const char *text, struct zerr *err)
{
	char cut[LINE_MAX_BYTES];
	struct zkeyfile_key key;
	strcpy(cut, text);
	int rc = zkeyfile_parse(&zauth_module, &key, cut, err);
	if (rc > 0)
		rc = add_key(l, text, &key, err);
	zauth_module.wipe(cut, sizeof(cut));
	zauth_module.wipe(&key, sizeof(key));
	return rc;
}

static int read_lines(struct lines *l, FILE *in, struct zerr *err)
{
	char text[LINE_MAX_BYTES];
	int rc = 0;
	setvbuf(in, NULL, _IONBF, 0); /* so that no key stays in a buffer that nobody wipes */
	for (int n = 1; rc == 0 && fgets(text, sizeof(text), in); n++) {
		if (!strchr(text, '\n') && strlen(text) == sizeof(text) - 1)
			rc = zerr_set(err, -EINVAL, "the line is too long");
		else
			rc = add_line(l, text, err);
		if (rc != 0)
			zerr_prefix(err, rc, "standard input:%d", n);
	}
	zauth_module.wipe(text, sizeof(text));
	if (rc == 0 && ferror(in))
		rc = zerr_set(err, -EIO, "standard input: cannot be read");
	return rc == 0 && l->n == 0 ? zerr_set(err, -EINVAL, "standard input: there is no key in it") : rc;
}

/* Does the line hold the key of one of these users? */
static bool is_of(const char *line, const struct lines *l)
{
	const char *user = line + strspn(line, " \t");
	const size_t len = strcspn(user, " \t\r\n");
	for (size_t i = 0; i < l->n; i++)
		if (strlen(l->key[i].user) == len && strncmp(l->key[i].user, user, len) == 0)
			return true;
	return false;
}

/* Copies the lines of other users, and counts those that are left out. 0 or a negative errno. */
static int copy_others(FILE *from, FILE *to, const struct lines *l, int *left_out)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	setvbuf(from, NULL, _IONBF, 0); /* so that no key stays in a buffer that nobody wipes */
	for (bool first = true; (len = getline(&line, &cap, from)) >= 0; first = false) {
		if (is_of(first ? zlines_skip_mark(line) : line, l))
			(*left_out)++;
		else
			fprintf(to, line[len - 1] == '\n' ? "%s" : "%s\n", line);
	}
	const int rc = feof(from) ? 0 : -EIO;
	if (line)
		zauth_module.wipe(line, cap);
	free(line);
	return rc;
}

static int write_new(FILE *to, const char *path, const struct lines *l, bool drop, struct zerr *err)
{
	FILE *from = fopen(path, "re");
	int left_out = 0, rc = 0;
	setvbuf(to, NULL, _IONBF, 0);
	if (!from && errno != ENOENT)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	if (from && copy_others(from, to, l, &left_out) != 0)
		rc = zerr_set(err, -EIO, "%s: cannot be read", path);
	if (from)
		fclose(from);
	if (rc == 0 && drop && left_out == 0)
		rc = zerr_set(err, -ENOENT, "%s: there is no key for user %s", path, l->key[0].user);
	for (size_t i = 0; rc == 0 && !drop && i < l->n; i++)
		fprintf(to, strchr(l->line[i], '\n') ? "%s" : "%s\n", l->line[i]);
	if (rc == 0 && (fflush(to) != 0 || ferror(to) || fsync(fileno(to)) != 0))
		rc = zerr_set(err, -EIO, "%s.new: cannot be written", path);
	return rc;
}

static int count_key(void *ctx, const struct zkeyfile_key *key)
{
	(void)key;
	++*(int *)ctx;
	return 0;
}

static int check_new(const char *new, const struct lines *l, struct zerr *err)
{
	int keys = 0;
	int rc = zkeyfile_read_all(&zauth_module, new, count_key, &keys, err);
	if (rc == 0 && keys == 0)
		rc = zerr_set(err, -EINVAL,
			"the key of user %s is the only one, and zipperd needs one: put in another one first",
			l->key[0].user);
	return rc;
}

/* Gives the new file the owner of the old one. */
static int keep_owner(FILE *new, const char *path, struct zerr *err)
{
	struct stat old, now;
	if (stat(path, &old) != 0 || fstat(fileno(new), &now) != 0 ||
		(old.st_uid == now.st_uid && old.st_gid == now.st_gid))
		return 0;
	return fchown(fileno(new), old.st_uid, old.st_gid) == 0
		       ? 0
		       : zerr_set(err, -errno, "%s: cannot keep its owner: %s", path, strerror(errno));
}

/* The new name must be on the disk, too. */
static void sync_folder(char *path)
{
	char *slash = strrchr(path, '/');
	if (slash)
		slash[1] = '\0';
	int fd = open(slash ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

static FILE *create_new(const char *new, struct zerr *err)
{
	int fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (to)
		return to;
	if (fd < 0 && errno == EEXIST)
		zerr_set(err, -EEXIST, "%s is there: another zipperd is changing the keys, or was killed: remove it",
			new);
	else
		zerr_set(err, -errno, "%s: %s", new, strerror(errno));
	if (fd >= 0) {
		close(fd);
		unlink(new);
	}
	return NULL;
}

/* Writes the changed file beside the old one, checks it, and puts it in the old one's place. */
static int replace(const char *key_file, const struct lines *l, bool drop, struct zerr *err)
{
	char new[PATH_MAX], real[PATH_MAX];
	const char *path = realpath(key_file, real) ? real : key_file; /* a link stays one */
	if (snprintf(new, sizeof(new), "%s.new", path) >= (int)sizeof(new))
		return zerr_set(err, -ENAMETOOLONG, "key_file: the path is too long");
	FILE *to = create_new(new, err);
	if (!to)
		return -EEXIST;
	int rc = write_new(to, path, l, drop, err);
	if (rc == 0)
		rc = check_new(new, l, err);
	if (rc == 0)
		rc = keep_owner(to, path, err);
	if (rc == 0 && rename(new, path) != 0)
		rc = zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	fclose(to);
	if (rc == 0)
		sync_folder(new);
	else
		unlink(new);
	return rc;
}

int keytool_put(const char *path, FILE *in, struct zerr *err)
{
	struct lines l = {.n = 0};
	int rc = read_lines(&l, in, err);
	if (rc == 0)
		rc = replace(path, &l, false, err);
	free_lines(&l);
	return rc;
}

int keytool_drop(const char *path, const char *user, struct zerr *err)
{
	struct zkeyfile_key key = {.until_s = 0};
	struct lines l = {.key = &key, .n = 1};
	if (!zkeyfile_user_ok(user))
		return zerr_set(err, -EINVAL, "--drop-key: '%.64s' is no name of a user", user);
	strcpy(key.user, user); /* bounded by zkeyfile_user_ok */
	return replace(path, &l, true, err);
}
