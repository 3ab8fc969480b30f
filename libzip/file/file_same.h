/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether all parts see one file. Two clusters that do not share the file system would each write half of a file, so a
 * file that may be written is shown to be the same: rank 0 puts an empty file of a random name beside it, which the
 * leaders of all parts must find there. Where that cannot be (a folder that may not be written), inode, size and times
 * must agree. A file that is only read may be a copy of each cluster's own: sizes must agree. Whether it is one all the
 * same, inode and times tell, as those of the last change cannot be set.
 */
#ifndef ZIP_LIBZIP_FILE_SAME_H
#define ZIP_LIBZIP_FILE_SAME_H

#include <stdbool.h>

#include "libzip/world/comm.h"

struct zfile_same {
	bool is_one;	 /* one file, and no copies, for all that is known */
	int leader;	 /* the rank of the leader of a part that has another file, or -1 */
	const char *why; /* what differs then */
};
/* Collective over the members, who all have it open. MPI_SUCCESS, or an error code that has been raised. */
int zfile_same_check(struct zcomm *twin, const char *function, const char *path, bool may_write, struct zfile_same *);

#endif
