/* SPDX-License-Identifier: BSD-3-Clause */
/* Transports in loadable modules: where they lie, and their settings. Only some addresses need one. */
#ifndef ZIPCAST_MODULES_H
#define ZIPCAST_MODULES_H

#include "common/base/err.h"

enum zmodules_one_sided {
	ZMODULES_ONE_SIDED_AUTO,
	ZMODULES_ONE_SIDED_YES,
	ZMODULES_ONE_SIDED_NO
}; /* in the order of the choices */

/* Reads the environment (zipcast(3)) and loads the module, once in a process. 0 or a negative errno. Any thread. */
int zmodules_configure(struct zerr *);

/* Whether blocks are written right into the receiver's memory. After zmodules_configure. */
enum zmodules_one_sided zmodules_one_sided(void);

#endif
