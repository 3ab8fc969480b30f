/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * By which fabric, and over how many hops, the parts come to each rail's zipper (ctl.h, "Hops"), and what follows
 * from it: which rails carry what goes between two parts. A zipper carries nothing between parts that come to it by the
 * same fabric; of those that do, the ones with the least hops of both parts together. All ranks find the same.
 * MPI_Init's thread.
 */
#ifndef ZIP_LIBZIP_ENTRIES_H
#define ZIP_LIBZIP_ENTRIES_H

#include <stdint.h>

#include "common/control/ctl.h"
#include "common/base/err.h"
#include "common/hosts/hops.h"

/* The text has those of n rails, separated by blanks. 0, or -EINVAL with the reason: it has more, or less. */
int zentries_parse(char (*entries)[ZCTL_ENTRIES_MAX], int n, const char *text, struct zerr *);
/* Do they say of our part how many hops there are on our ways to these n rails? 0, or -EINVAL with the reason, also
 * where there is not one for each part. */
int zentries_check(const char (*entries)[ZCTL_ENTRIES_MAX], const struct zhops *ways, int n, const struct zctl_join *,
	struct zerr *);
/* Of the n rails those that carry what goes between parts p and q, a bit each, into rails[p][q], which has room for
 * ZCTL_PARTS_MAX parts; those of p and p are all. How many parts, or a negative errno with the reason: -EINVAL,
 * -ENETUNREACH: no rail joins some two. */
int zentries_find_rails(const char (*entries)[ZCTL_ENTRIES_MAX], int n, const char *parts,
	uint32_t (*rails)[ZCTL_PARTS_MAX], struct zerr *);

#endif
