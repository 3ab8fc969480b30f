/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of files that span parts, and code that their functions share. See file.h. */
#include "libzip/file/file.h"

#include <stdint.h>
#include <stdio.h>

#include "libzip/abi/abi.h"
#include "libzip/coll/allreduce.h"
#include "libzip/coll/base/coll.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/world/error.h"
#include "libzip/shim/shim.h"

/* --- the table --- */

#define BUCKETS 64u
static struct zfile *files[BUCKETS];
atomic_int zfile_count;

static struct zfile **bucket_of(MPI_File handle)
{
	return &files[(uintptr_t)handle / 64 % BUCKETS]; /* ROMIO's handles are addresses */
}

struct zfile *zfile_find(MPI_File handle)
{
	struct zfile *f = *bucket_of(handle);

	while (f && f->handle != handle)
		f = f->next;
	return f;
}

void zfile_add(struct zfile *f)
{
	struct zfile **bucket = bucket_of(f->handle);

	f->next = *bucket;
	*bucket = f;
	atomic_fetch_add(&zfile_count, 1);
}

void zfile_remove(struct zfile *f)
{
	struct zfile **at = bucket_of(f->handle);

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	atomic_fetch_sub(&zfile_count, 1);
}

/* --- for the wrappers --- */

bool zfile_is_spanning(MPI_File handle)
{
	zshim_enter();
	bool spans = zfile_find(handle);
	zshim_leave();
	return spans;
}

int zfile_enter(MPI_File handle, bool collective, const char *function)
{
	int rc = MPI_SUCCESS;

	zshim_enter();
	struct zfile *f = zfile_find(handle);
	if (f && f->amode & MPI_MODE_SEQUENTIAL)
		rc = zerror_raise_file(handle, MPI_ERR_UNSUPPORTED_OPERATION, function,
			"not allowed on a file that was opened with MPI_MODE_SEQUENTIAL");
	else if (f && collective)
		rc = zcomm_meet_local(f->twin->shadow);
	zshim_leave();
	return rc;
}

/* --- for the implementations --- */

void zfile_out(void)
{
	zshim_block_begin();
	zshim_depth++;
}

int zfile_in(int rc)
{
	zshim_depth--;
	zshim_block_end();
	return rc;
}

int zfile_agree(struct zcomm *twin, const char *function, int64_t *value, int n)
{
	return zcoll_run(twin, &(struct zcoll){.name = function,
				       .build = zallreduce_build,
				       .sendbuf = MPI_IN_PLACE,
				       .recvbuf = value,
				       .recvcount = n,
				       .recvtype = MPI_INT64_T,
				       .op = MPI_MAX});
}

#define CLASS_BITS 8
#define IS_CAUSE ((int64_t)1 << 48)

int64_t zfile_verdict(const struct zcomm *twin, int class)
{
	int64_t before = (int64_t)(twin->size - twin->rank) << CLASS_BITS;

	return class == MPI_SUCCESS ? 0 : (class == MPI_ERR_IO ? 0 : IS_CAUSE) | before | zabi_class_number(class);
}

int zfile_verdict_class(int64_t verdict)
{
	return zabi_class_of((int)(verdict & ((1 << CLASS_BITS) - 1)));
}

int zfile_verdict_rank(const struct zcomm *twin, int64_t verdict)
{
	return twin->size - (int)((verdict & ~IS_CAUSE) >> CLASS_BITS);
}

const char *zfile_part_name(const struct zcomm *twin, int rank)
{
	return zworld.part_name[zworld.place[twin->vrank[rank]].part];
}

const char *zfile_class_text(int class, char text[MPI_MAX_ERROR_STRING])
{
	int len;

	if (zn.Error_string(class, text, &len) != MPI_SUCCESS)
		snprintf(text, MPI_MAX_ERROR_STRING, "error class %d", class);
	return text;
}

int zfile_raise(MPI_File handle, int class, const char *function)
{
	char text[MPI_MAX_ERROR_STRING];

	return zerror_raise_file(handle, class, function, "%s", zfile_class_text(class, text));
}
