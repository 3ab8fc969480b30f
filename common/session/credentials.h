/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom a rank or tool of this user is to zipperd, and the key that proves it. Start-up only; reads the environment. */
#ifndef ZIP_COMMON_SESSION_CREDENTIALS_H
#define ZIP_COMMON_SESSION_CREDENTIALS_H

#include "common/control/auth.h"

/* ZIPPER_USER, else the name of the effective user. 0, or -EINVAL where that is no name for zipperd. */
int zcredentials_find_user(char user[ZCTL_NAME_MAX + 1], struct zerr *);
/* The user's key: ZIPPER_KEY (64 hexadecimal digits), else from the file ZIPPER_KEY_FILE, else ~/.zipper/key. 0, or a
 * negative errno with text. */
int zcredentials_find_key(const struct zauth_ops *, uint8_t key[ZAUTH_KEY_BYTES], const char *user, struct zerr *);

#endif
