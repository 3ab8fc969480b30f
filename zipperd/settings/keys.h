/* SPDX-License-Identifier: BSD-3-Clause */
/* The users' keys, from key_file. Control thread. */
#ifndef ZIPPERD_KEYS_H
#define ZIPPERD_KEYS_H

#include "common/control/auth.h"

struct keys;

/* Reads the file; "" or NULL: no user has a key. 0 or a negative errno with text. */
int keys_load(struct keys **, const char *path, struct zerr *);
void keys_free(struct keys *);
/* ZAUTH_KEY_BYTES. *until_s: as in keyfile.h. NULL: unknown user. */
const uint8_t *keys_find(const struct keys *, const char *user, uint64_t *until_s);

/* The number of users. */
unsigned keys_count(const struct keys *);

#endif
