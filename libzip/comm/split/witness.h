/* SPDX-License-Identifier: BSD-3-Clause */
/* A witness: an empty file of a name that nobody has had before. One rank makes it, others look for it: they see the
 * same folder, or they do not. Under the shim's lock. */
#ifndef ZIP_LIBZIP_WITNESS_H
#define ZIP_LIBZIP_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#define ZWITNESS_PATIENCE_MS 3000 /* for a file that another host has made: NFS remembers that there was none */

/* A number that nobody has had before. */
uint64_t zwitness_number(void);
/* Makes the file. 0 or a negative errno: -EEXIST where there is a file of that name. */
int zwitness_make(const char *path);
/* Waits until there is a file of that name, *left_ms at most, and makes progress meanwhile. *left_ms becomes what is
 * left for other files. False: there is none. */
bool zwitness_await(const char *path, int *left_ms);

#endif
