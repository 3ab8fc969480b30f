/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of communicators that span parts (MPI-4.0 chapter 14). Each part opens the file natively, and the application
 * has its part's native handle; what is in this table spans. All parts must see one file system. Whatever ROMIO does by
 * itself is left to it: file pointers, views, data. What one part alone cannot know is done here: who creates, whether
 * it is the same file, sizes, shared file pointers.
 *
 * Under the shim's lock, but for what says otherwise. Native calls of files are made without it, as they may block, and
 * with the depth raised, as ROMIO calls public MPI functions: between zfile_out and zfile_in. Before a native
 * collective the local members have met by our own progress, as a rank inside of one answers nobody over the bridge.
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
	struct zcomm *twin; /* of the communicator it was opened on: nothing of ours meets anything of the program's */
	char *name;	    /* as the program gave it, without ROMIO's prefix ("ufs:") */
	int amode;	    /* as the program gave it; the native one lacks what is done here */
	MPI_Count etype_size;
	bool is_one; /* for all parts, and not a copy in each */
	struct zfile_pointer shared;
	enum zfile_split { ZFILE_NO_SPLIT, ZFILE_READS, ZFILE_WRITES } split; /* by the shared pointer, under way */
	MPI_Status split_status;
	struct zfile *next; /* of those with the same hash */
};

/* --- for the generated wrappers, which have no lock --- */

extern atomic_int zfile_count; /* of files that span */
bool zfile_is_spanning(MPI_File);
static inline bool zfile_spans(MPI_File handle)
{
	return atomic_load_explicit(&zfile_count, memory_order_relaxed) > 0 && zfile_is_spanning(handle);
}
/* Before data access by explicit offsets or individual pointers: is it allowed on this file? collective: one that
 * blocks natively, so that the local members also meet. MPI_SUCCESS (always for local files), or an error code that has
 * been raised. */
int zfile_enter(MPI_File, bool collective, const char *function);
static inline int zfile_begin(MPI_File handle, bool collective, const char *function)
{
	if (atomic_load_explicit(&zfile_count, memory_order_relaxed) == 0)
		return MPI_SUCCESS;
	return zfile_enter(handle, collective, function);
}

/* --- for the implementations --- */

/* NULL: not one that spans. */
struct zfile *zfile_find(MPI_File);
void zfile_add(struct zfile *);
void zfile_remove(struct zfile *);

/* Around native calls. rc is passed through. */
void zfile_out(void);
int zfile_in(int rc);

/* The greatest of each of n values of all members. Collective: all have come when it returns. MPI_SUCCESS or an error
 * code that has been raised. */
int zfile_agree(struct zcomm *twin, const char *function, int64_t *value, int n);
/* So that of the members' error classes (MPI_SUCCESS: 0) one is agreed on with the others: a cause goes before
 * MPI_ERR_IO, which ROMIO tells of where another rank has failed; then lower ranks go first. */
int64_t zfile_verdict(const struct zcomm *twin, int class);
int zfile_verdict_class(int64_t verdict);
int zfile_verdict_rank(const struct zcomm *twin, int64_t verdict);
const char *zfile_part_name(const struct zcomm *twin, int rank);
/* Native MPI's own words for a class. */
const char *zfile_class_text(int class, char text[MPI_MAX_ERROR_STRING]);

/* What zerror_raise_file does with the words of the class. */
int zfile_raise(MPI_File, int class, const char *function);

static inline bool zfile_may_write(const struct zfile *f)
{
	return (f->amode & MPI_MODE_RDONLY) == 0;
}

#endif
