/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in control messages: of jobs, parts, fabrics, hosts and users. A name has 1 to ZCTL_NAME_MAX printable ASCII
 * characters, without spaces and commas. Any thread.
 */
#ifndef ZIP_COMMON_CONTROL_CTL_NAME_H
#define ZIP_COMMON_CONTROL_CTL_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control/ctl.h"

/* May this character stand in a name? */
static inline bool zctl_name_has_char(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != ',';
}

/* Is the text a name? */
int zctl_name_ok(const char *name);
/* Splits a comma-separated list of part names into name[0..n-1]. name may be NULL: then the list is only counted and
 * checked. Returns n, or -EINVAL: the list is empty, has more than max names, a name twice, or a bad name. */
int zctl_name_split_parts(const char *parts, char (*name)[ZCTL_NAME_MAX + 1], int max);
/* Splits a list of entries ("lgm,wan+1", see "Hops" in ctl.h) into fabrics name[ZCTL_PARTS_MAX] and numbers of hops
 * hops[ZCTL_PARTS_MAX]. An empty list of entries means: each part comes by the fabric of its name, without hops.
 * Returns the number of entries, or -EINVAL: not one entry for each part, or a bad name or number. */
int zctl_name_split_entries(const char *entries, const char *parts, char (*name)[ZCTL_NAME_MAX + 1], uint32_t *hops);

#endif
