/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of this process in the order in which the dynamic linker has loaded them, which is the order of search of
 * those that were there at the start. Works before the constructors of this library. It takes no lock: an object that
 * another thread unloads meanwhile must not be looked at, and objects behind this library at the start never are.
 */
#ifndef ZIP_LIBZIP_CHAIN_H
#define ZIP_LIBZIP_CHAIN_H

#include <link.h>

#include "libzip/loader/object.h"

/* This library. Its address never changes. */
const struct link_map *zchain_self(void);
bool zchain_read(struct zobject *, const struct link_map *);
/* The definition of this name in the first object behind `behind`; *found (may be NULL) is that object. NULL: none. */
void *zchain_next(const struct link_map *behind, const char *name, struct zobject *found);

#endif
