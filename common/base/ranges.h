/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers and ranges as text, for example "0-3,8". The numbers are ranks, or the operating system's numbers of
 * cores. Any thread. */
#ifndef ZIP_COMMON_BASE_RANGES_H
#define ZIP_COMMON_BASE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"

#define ZRANGES_CPU_MAX 65535u /* highest number of a core */

/* Reads one element of a list ("7" or "0-3"), up to its comma or the end, with numbers of at most max. *text moves to
 * the next element; *more says whether there is one. false: the text is no such element. */
bool zranges_scan(const char **text, uint32_t max, uint32_t *first, uint32_t *last, bool *more);
/* Is this a list of cores? 0, or -EINVAL with the reason. */
int zranges_check_cpus(const char *text, struct zerr *);

#endif
