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

struct zfile_pointer {
	char *path;
	int fd;		/* -1: not used yet */
	int64_t origin; /* what it is while the file has 0: the same in all members */
};
#define ZFILE_POINTER_NONE ((struct zfile_pointer){.fd = -1})

/* path is copied. 0 or -ENOMEM. */
int zfile_pointer_init(struct zfile_pointer *, const char *path, int64_t origin);
/* All of these: 0 or a negative errno. */
int zfile_pointer_get(struct zfile_pointer *, int64_t *value);
int zfile_pointer_set(struct zfile_pointer *, int64_t value);
/* Adds to it; *was: what it was before. */
int zfile_pointer_add(struct zfile_pointer *, int64_t increment, int64_t *was);
/* It may be used again after close. delete: by one of those who share it, when all have closed it and some have used
 * it. */
void zfile_pointer_close(struct zfile_pointer *);
void zfile_pointer_delete(struct zfile_pointer *);
void zfile_pointer_fini(struct zfile_pointer *);

#endif
