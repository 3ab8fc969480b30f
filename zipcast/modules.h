/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports that lie in modules, for nodes with an address that asks for one: where they lie, and their settings. */
#ifndef ZIPCAST_MODULES_H
#define ZIPCAST_MODULES_H

#include "err.h"

/* Reads the environment (zipcast(3)) and loads the module, once in a process. 0 or a negative errno. Any thread. */
int zcast_modules_configure(struct zerr *);

#endif
