/* SPDX-License-Identifier: BSD-3-Clause */
/* The name under which zipperd knows a rank or tool of this user, and the key that proves it. Start-up only; reads the
 * environment. */
#ifndef ZIP_COMMON_SESSION_CREDENTIALS_H
#define ZIP_COMMON_SESSION_CREDENTIALS_H

#include "common/control/auth.h"
#include "common/control/munge.h"

#define ZCREDENTIALS_TEXT_BYTES (20 + 1 + 2 * ZAUTH_KEY_BYTES + 1) /* "EXPIRES:KEY" */

/* Finds the user: ZIPPER_USER, or else the name of the effective user. Returns 0, or -EINVAL where that is no name for
 * zipperd. */
int zcredentials_find_user(char user[ZCTL_NAME_MAX + 1], struct zerr *);
/* Finds the user's key: ZIPPER_KEY (64 hexadecimal digits), or else the file ZIPPER_KEY_FILE, or else ~/.zipper/key.
 * Returns 0, or a negative errno with text. */
int zcredentials_find_key(const struct zauth_ops *, uint8_t key[ZAUTH_KEY_BYTES], const char *user, struct zerr *);
/* Finds whether MUNGE proves who we are: where ZIPPER_MUNGE says so ("yes", or the path of munged's socket), or where
 * it does not say "no", there is no key, and munged runs. ZIPPER_MUNGE_USER is zipperd's user, or else it is zipper.
 * module_dir: NULL: ZIPPER_MODULE_DIR, or else where modules are installed (for programs in bindir). rc: of the search
 * for a key. Returns 1 with munge filled; rc: MUNGE does not; negative with text: it should, and cannot. */
int zcredentials_find_munge(struct zmunge *, const char *module_dir, int rc, struct zerr *);
/* Finds what a rank proves its identity with: the job credential ZIPPER_CREDENTIAL ("EXPIRES:KEY", with the end in
 * seconds since 1970 and 64 hexadecimal digits), or else the user's key; then *expires_s is 0. Returns 0, or a negative
 * errno with text that begins with what was looked for. */
int zcredentials_find_rank(const struct zauth_ops *, uint8_t key[ZAUTH_KEY_BYTES], uint64_t *expires_s,
	const char *user, struct zerr *);
/* Writes the value of ZIPPER_CREDENTIAL for one job: ranks with it need no key. */
void zcredentials_format(const struct zauth_ops *, char text[ZCREDENTIALS_TEXT_BYTES],
	const uint8_t key[ZAUTH_KEY_BYTES], const char *user, const char *job, uint64_t expires_s);

#endif
