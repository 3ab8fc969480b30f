/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Do all parts see one file? Two clusters that do not share the file system would each write half of a file. So a file
 * that may be written has to be proved the same: rank 0 puts an empty file of a random name beside it, and the leaders
 * of all parts must find it there. In a folder that may not be written, inode, size and times must agree instead.
 *
 * A file that is only read may be a copy of each cluster's own; then only sizes must agree. Inode and times tell
 * whether it is one file all the same, because the time of the last change cannot be set.
 */
#ifndef ZIP_LIBZIP_FILE_SAME_H
#define ZIP_LIBZIP_FILE_SAME_H

#include <stdbool.h>

#include "libzip/world/comm.h"

struct zfile_same {
	bool is_one;	 /* one file and no copies, as far as is known */
	int leader;	 /* the rank of the leader of a part that has another file, or -1 */
	const char *why; /* what differs, for the error text */
};
/* Collective over the members, which all have the file open. MPI_SUCCESS, or an error code that has been raised. */
int zfile_same_check(struct zcomm *twin, const char *function, const char *path, bool may_write, struct zfile_same *);

#endif
