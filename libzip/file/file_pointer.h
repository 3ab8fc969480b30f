/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared file pointer of a file that spans parts: a number, in etypes of the view, in a small file beside it. All
 * members open the small file by the same name when they first need it, and lock it (fcntl) while they change it.
 * ROMIO does the same for the processes of one native job. While the small file does not exist, the pointer is 0.
 * Under the shim's lock, which keeps the threads of a process apart; locks of files do not.
 */
#ifndef ZIP_LIBZIP_FILE_POINTER_H
#define ZIP_LIBZIP_FILE_POINTER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct zfile_pointer {
	char *path;
	int fd;		/* -1: not used yet */
	int64_t origin; /* value of the pointer while the file says 0; the same in all members */
};
#define ZFILE_POINTER_NONE ((struct zfile_pointer){.fd = -1})

/* path is copied. 0 or -ENOMEM. */
int zfile_pointer_init(struct zfile_pointer *, const char *path, int64_t origin);
/* These return 0 or a negative errno. */
int zfile_pointer_get(struct zfile_pointer *, int64_t *value);
int zfile_pointer_set(struct zfile_pointer *, int64_t value);
/* Adds to the pointer; *was receives the old value. */
int zfile_pointer_add(struct zfile_pointer *, int64_t increment, int64_t *was);
/* After close the pointer may be used again. One member calls delete, when all have closed it and one has used it. */
void zfile_pointer_close(struct zfile_pointer *);
void zfile_pointer_delete(struct zfile_pointer *);
void zfile_pointer_fini(struct zfile_pointer *);

#endif
