/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Key files: lines "USER HEXKEY", with '#' comments. A key file must be a regular file that belongs to this user or to
 * root and that nobody else can read (mode & 077), and no user may stand in it twice. Start-up and zipperd's reload;
 * one thread.
 */
#ifndef ZIP_COMMON_CONTROL_KEYFILE_H
#define ZIP_COMMON_CONTROL_KEYFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/control/auth.h"

/* May a user of this name stand in a key file? */
bool zkeyfile_user_ok(const char *user);
/* Reads a key file. Calls found for each line; a nonzero result of found ends the reading. Returns 0, the result of
 * found, or a negative errno with "path:line: reason". */
int zkeyfile_read_all(const struct zauth_ops *, const char *path,
	int (*found)(void *ctx, const char *user, const uint8_t key[ZAUTH_KEY_BYTES]), void *ctx, struct zerr *);
/* Reads the key of one user. Returns 0, -ENOENT (the file has no such user), or an error of zkeyfile_read_all. */
int zkeyfile_read(const struct zauth_ops *, uint8_t key[ZAUTH_KEY_BYTES], const char *path, const char *user,
	struct zerr *);

#endif
