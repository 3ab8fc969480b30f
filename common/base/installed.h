/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the files of this installation are. The folders that configure named are compiled in. An installation that was
 * moved as a whole is used from where it is now: the other files are looked for from the place of the program or
 * library that asks. Start-up only; any thread. */
#ifndef ZIP_COMMON_BASE_INSTALLED_H
#define ZIP_COMMON_BASE_INSTALLED_H

#include <limits.h>
#include <stdbool.h>

/* The module that every installation has: it tells the folder of all modules. */
#define ZINSTALLED_MODULE "zipauth.so"

/* Finds the folder of a file. self: any address in the program or library that asks. home: the folder of that program
 * or library, as configure named it. wanted: the folder that is asked for, as configure named it. name: the file that
 * must be there. Returns true if the installation was moved and the file is there; path is its folder. Otherwise path
 * is `wanted`. That is also the path where nothing has moved, as other hosts may know the folder by that name alone,
 * and where home and wanted share only the root. */
bool zinstalled_find(char path[PATH_MAX], const void *self, const char *home, const char *wanted, const char *name);

#endif
