/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports that lie in modules, for nodes with an address that asks for one: where they lie, and their settings. */
#ifndef ZIPCAST_MODULES_H
#define ZIPCAST_MODULES_H

#include "common/base/err.h"

enum zcast_one_sided { ZCAST_ONE_SIDED_AUTO, ZCAST_ONE_SIDED_YES, ZCAST_ONE_SIDED_NO }; /* in that order */

/* Reads the environment (zipcast(3)) and loads the module, once in a process. 0 or a negative errno. Any thread. */
int zcast_modules_configure(struct zerr *);

/* Whether blocks are written into the receiver's memory; once configured. */
enum zcast_one_sided zcast_modules_one_sided(void);

#endif
