/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Key files: lines "USER HEXKEY" or "USER HEXKEY until=YYYY-MM-DD", with '#' comments. A key is good to the end of that
 * day, UTC. A key file must be a regular file that belongs to this user or to
 * root and that nobody else can read (mode & 077), and no user may stand in it twice. Start-up and zipperd's reload;
 * one thread.
 */
#ifndef ZIP_COMMON_CONTROL_KEYFILE_H
#define ZIP_COMMON_CONTROL_KEYFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/control/auth.h"

struct zkeyfile_key {
	char user[ZCTL_NAME_MAX + 1];
	uint8_t key[ZAUTH_KEY_BYTES];
	uint64_t until_s; /* the first second, since 1970, in which the key is not good any more; 0: it has no end */
};

/* May a user of this name stand in a key file? */
bool zkeyfile_user_ok(const char *user);
/* Reads a key file. Calls found for each line; a nonzero result of found ends the reading. Returns 0, the result of
 * found, or a negative errno with "path:line: reason". */
int zkeyfile_read_all(const struct zauth_ops *, const char *path, int (*found)(void *ctx, const struct zkeyfile_key *),
	void *ctx, struct zerr *);
/* Reads one line, which is cut up. Returns 1, 0 (it holds no key), or a negative errno with text. */
int zkeyfile_parse(const struct zauth_ops *, struct zkeyfile_key *, char *line, struct zerr *);
/* Reads the first second after that day, "YYYY-MM-DD". Returns 0 or -EINVAL with text. */
int zkeyfile_parse_day(uint64_t *until_s, const char *day, struct zerr *);
/* Reads the key of one user. Returns 0, -ENOENT (the file has no such user), -EKEYEXPIRED, or an error of
 * zkeyfile_read_all. */
int zkeyfile_read(const struct zauth_ops *, uint8_t key[ZAUTH_KEY_BYTES], const char *path, const char *user,
	struct zerr *);

#endif
