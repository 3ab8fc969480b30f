/* SPDX-License-Identifier: BSD-3-Clause */
/* On which cores zipperd runs. Start-up only. */
#ifndef ZIPPERD_CPUS_H
#define ZIPPERD_CPUS_H

#include "common/base/err.h"

/* This thread, and all that it starts from now on: list as "14,15". 0 or a negative errno: nothing has changed, or not
 * all of these cores are ours. */
int cpus_bind(const char *list, struct zerr *);

#endif
