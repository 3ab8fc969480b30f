/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts' entries to each rail's zipper: by which fabric and over how many hops a part comes to it (ctl.h, "Hops").
 * From them follows which rails carry messages between two parts. A zipper carries nothing between parts that come to
 * it by the same fabric. Of the other zippers those with the fewest hops, both parts together, carry. All ranks find
 * the same. In the thread of MPI_Init.
 */
#ifndef ZIP_LIBZIP_ENTRIES_H
#define ZIP_LIBZIP_ENTRIES_H

#include <stdint.h>

#include "common/control/ctl.h"
#include "common/base/err.h"
#include "common/hosts/hops.h"

/* Parses the entries of n rails, separated by blanks. 0, or -EINVAL with the reason: the text has more, or fewer. */
int zentries_parse(char (*entries)[ZCTL_ENTRIES_MAX], int n, const char *text, struct zerr *);
/* Do the entries agree with the hops on our part's ways to these n rails? 0, or -EINVAL with the reason, also where
 * there is not an entry for each part. */
int zentries_check(const char (*entries)[ZCTL_ENTRIES_MAX], const struct zhops *ways, int n, const struct zctl_join *,
	struct zerr *);
/* Finds the rails, of n, that carry messages between parts p and q: a bit each in rails[p][q], which has room for
 * ZCTL_PARTS_MAX parts; all bits for p and p. Returns the number of parts, or a negative errno with the reason:
 * -EINVAL, or -ENETUNREACH where no rail joins two parts. */
int zentries_find_rails(const char (*entries)[ZCTL_ENTRIES_MAX], int n, const char *parts,
	uint32_t (*rails)[ZCTL_PARTS_MAX], struct zerr *);

#endif
