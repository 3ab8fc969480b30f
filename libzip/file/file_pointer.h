/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared file pointer of a file that spans parts: a number, in etypes of the view, in a small file beside it that
 * all members open by the same name when they first need it, and lock (fcntl) while they change it. ROMIO does the same
 * for the processes of one native job. A file that is not there yet is a pointer of 0. Under the shim's lock, which
 * keeps the threads of a process apart, as locks of files do not.
 */
#ifndef ZIP_LIBZIP_FILE_POINTER_H
#define ZIP_LIBZIP_FILE_POINTER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct zpointer {
	char *path;
	int fd;		/* -1: not used yet */
	int64_t origin; /* what it is while the file has 0: the same in all members */
};
#define ZPOINTER_NONE ((struct zpointer){.fd = -1})

/* path is copied. 0 or -ENOMEM. */
int zpointer_init(struct zpointer *, const char *path, int64_t origin);
/* All of these: 0 or a negative errno. */
int zpointer_get(struct zpointer *, int64_t *value);
int zpointer_set(struct zpointer *, int64_t value);
/* Adds to it; *was: what it was before. */
int zpointer_add(struct zpointer *, int64_t increment, int64_t *was);
/* It may be used again after close. delete: by one of those who share it, when all have closed it and some have used
 * it. */
void zpointer_close(struct zpointer *);
void zpointer_delete(struct zpointer *);
void zpointer_fini(struct zpointer *);

#endif
