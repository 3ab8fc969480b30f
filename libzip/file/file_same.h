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

#define ZFILE_PATIENCE_MS 3000 /* for what another host has made: NFS keeps in mind what was not there */

/* Waits until there is a file of that name, with progress. False: there is none. */
bool zfile_await(const char *path);
/* Is this on NFS, as far as one can tell? Also of a file that is not there yet. */
bool zfile_is_on_nfs(const char *path);
/* A new name beside the file (symbolic links followed), with a text in it that all members got from one of them. The
 * caller frees it. NULL: no memory. */
char *zfile_name_beside(const char *path, const char *text);
/* 16 digits that nobody has had before. */
#define ZFILE_RANDOM_CHARS 17
void zfile_random_text(char text[ZFILE_RANDOM_CHARS]);

struct zfile_same {
	bool is_one;	 /* one file, and no copies, for all that is known */
	int leader;	 /* the rank of the leader of a part that has another file, or -1 */
	const char *why; /* what differs then */
};
/* Collective over the members, who all have it open. MPI_SUCCESS, or an error code that has been raised. */
int zfile_check_same(struct zcomm *twin, const char *function, const char *path, bool may_write, struct zfile_same *);

#endif
