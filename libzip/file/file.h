/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of communicators that span parts (MPI-4.0 chapter 14). Each part opens the file natively, and the application
 * holds the native handle of its part. Files in this table span parts. All parts must see one file system. ROMIO keeps
 * each rank's file pointer, view and data. This folder does the work that one part cannot do alone: creation, the check
 * that all parts have the same file, sizes, shared file pointers, and what a new view means for them (file_view.c).
 *
 * Under the shim's lock, unless a comment says otherwise. Native calls of files stand between zfile_out and zfile_in:
 * without the lock, because they may block, and with the depth raised, because ROMIO calls public MPI functions.
 * Before a native collective the local members meet by our own progress, because a rank inside a native collective
 * answers nobody over the bridge.
 */
#ifndef ZIP_LIBZIP_FILE_H
#define ZIP_LIBZIP_FILE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/world/comm.h"
#include "libzip/file/file_pointer.h"

struct zfile {
	MPI_File handle;    /* native, of my part */
	struct zcomm *twin; /* of the program's communicator: our messages never meet the program's */
	char *name;	    /* the program's name, without ROMIO's prefix ("ufs:") */
	int amode;	    /* the program's access mode; the native one lacks the bits that are handled here */
	MPI_Count etype_size;
	bool is_one; /* all parts have one file, not a copy each */
	struct zfile_pointer shared;
	enum zfile_split {
		ZFILE_NO_SPLIT,
		ZFILE_READS,
		ZFILE_WRITES
	} split; /* a split collective by the shared pointer is under way */
	MPI_Status split_status;
	struct zfile *next; /* file with the same hash */
};

/* --- for the generated wrappers, which have no lock --- */

extern atomic_int zfile_count; /* number of files that span */
bool zfile_is_spanning(MPI_File);
static inline bool zfile_spans(MPI_File handle)
{
	return atomic_load_explicit(&zfile_count, memory_order_relaxed) > 0 && zfile_is_spanning(handle);
}
/* Is data access by explicit offset or individual pointer allowed on this file? Called before the access. collective:
 * the native access blocks, so the local members meet first. MPI_SUCCESS (always for local files), or an error code
 * that has been raised. */
int zfile_enter(MPI_File, bool collective, const char *function);
static inline int zfile_begin(MPI_File handle, bool collective, const char *function)
{
	if (atomic_load_explicit(&zfile_count, memory_order_relaxed) == 0)
		return MPI_SUCCESS;
	return zfile_enter(handle, collective, function);
}

/* --- for the implementations --- */

/* NULL: the file does not span. */
struct zfile *zfile_find(MPI_File);
void zfile_add(struct zfile *);
void zfile_remove(struct zfile *);

/* Around native calls. in returns rc. */
void zfile_out(void);
int zfile_in(int rc);

/* Replaces each of n values by the greatest of all members. Collective: on return all members have called it.
 * MPI_SUCCESS or an error code that has been raised. */
int zfile_agree(struct zcomm *twin, const char *function, int64_t *value, int n);
/* An error class as a value for zfile_agree, so that all members agree on one class (MPI_SUCCESS: 0). A cause counts
 * more than MPI_ERR_IO, which ROMIO reports where another rank has failed; then a lower rank counts more. */
int64_t zfile_verdict(const struct zcomm *twin, int class);
int zfile_verdict_class(int64_t verdict);
int zfile_verdict_rank(const struct zcomm *twin, int64_t verdict);
const char *zfile_part_name(const struct zcomm *twin, int rank);
/* Native MPI's text for a class. */
const char *zfile_class_text(int class, char text[MPI_MAX_ERROR_STRING]);

/* zerror_raise_file with the text of the class. */
int zfile_raise(MPI_File, int class, const char *function);

static inline bool zfile_may_write(const struct zfile *f)
{
	return (f->amode & MPI_MODE_RDONLY) == 0;
}

#endif
