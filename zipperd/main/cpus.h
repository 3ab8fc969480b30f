/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds zipperd to cores. Start-up only. */
#ifndef ZIPPERD_CPUS_H
#define ZIPPERD_CPUS_H

#include "common/base/err.h"

/* Binds this thread and all threads that it starts from now on. list: as "14,15". 0 or a negative errno with text;
 * -EINVAL: not all of these cores are there, or allowed. */
int cpus_bind(const char *list, struct zerr *);

#endif
