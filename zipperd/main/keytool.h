/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an administrator does with key files (keyfile.h): makes keys, puts them in, takes them out. A changed file
 * replaces the old one as a whole, with its owner and mode, or the old one stays. A zipperd that runs reads it when it
 * gets SIGHUP.
 */
#ifndef ZIPPERD_KEYTOOL_H
#define ZIPPERD_KEYTOOL_H

#include <stdio.h>

#include "common/base/err.h"

/* Prints the line of a new key. until: its last day, or NULL. All return 0 or a negative errno with text. */
int keytool_make(const char *user, const char *until, FILE *out, struct zerr *);
/* Puts lines of keys into the file, which need not be there yet. A user's new key replaces the old one. */
int keytool_put(const char *path, FILE *lines, struct zerr *);
/* Takes the user's key out. -ENOENT: there is none. */
int keytool_drop(const char *path, const char *user, struct zerr *);

#endif
