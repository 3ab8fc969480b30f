/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the dynamic linker looks for a library that some object opens by name, which depends on that object. */
#ifndef ZIP_LIBZIP_SEARCH_H
#define ZIP_LIBZIP_SEARCH_H

#include <link.h>

/* The object that has this address, in the list of the dynamic linker. NULL: none. */
struct link_map *zsearch_map_of(const void *address);

/* Calls open(path, arg) with one path after the other until it is successful: with each file of this name in the
 * folders of the object that has the address `caller` (DT_RPATH, LD_LIBRARY_PATH, DT_RUNPATH), and last with the name
 * itself, for the system's own folders. Returns open's last result. A name with a slash is only freed of $ORIGIN. */
typedef void *zsearch_fn(const char *path, void *arg);
void *zsearch_open(const char *name, const void *caller, zsearch_fn *open, void *arg);

#endif
