/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions on a whole file that spans parts: group, access mode, hints, size, sync, atomicity. */
#include "libzip/coll/barrier.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/world/error.h"
#include "libzip/file/file.h"
#include "libzip/file/file_hints.h"
#include "libzip/world/group.h"
#include "libzip/shim/shim.h"

int zip_File_get_group(MPI_File fh, MPI_Group *group)
{
	const struct zcomm *twin = zfile_find(fh)->twin;
	int class = zgroup_create(twin->vrank, twin->size, twin->session, group);

	return class == MPI_SUCCESS ? MPI_SUCCESS : zfile_raise(fh, class, "MPI_File_get_group");
}

int zip_File_get_amode(MPI_File fh, int *amode)
{
	*amode = zfile_find(fh)->amode;
	return MPI_SUCCESS;
}

int zip_File_set_info(MPI_File fh, MPI_Info info)
{
	struct zfile *f = zfile_find(fh);
	MPI_Info hints;
	int rc = zfile_hints(info, f->amode, &hints);

	if (rc == MPI_SUCCESS)
		rc = zcomm_meet_local(f->twin->shadow);
	if (rc == MPI_SUCCESS) {
		zfile_out();
		rc = zfile_in(zn.File_set_info(fh, hints));
	}
	if (hints != info)
		zn.Info_free(&hints);
	return rc;
}

/* Waits for all members and checks that all gave the same number. Else an error code that has been raised. */
static int meet_with(struct zfile *f, int64_t number, const char *function)
{
	int64_t said[2] = {number, -number};
	int rc = zfile_agree(f->twin, function, said, 2);

	if (rc == MPI_SUCCESS && said[0] != -said[1])
		rc = zerror_raise_file(f->handle, MPI_ERR_ARG, function, "the processes give different values");
	return rc;
}

/* Waits until all have done it: data that another rank wrote behind the new end would be lost. */
static int leave_together(struct zfile *f, int rc)
{
	int after = zbarrier_run(f->twin);

	return rc == MPI_SUCCESS ? after : rc;
}

static int refuse_sequential(const struct zfile *f, const char *function)
{
	return zerror_raise_file(f->handle,
		f->amode & MPI_MODE_SEQUENTIAL ? MPI_ERR_UNSUPPORTED_OPERATION : MPI_SUCCESS, function,
		"not allowed on a file that was opened with MPI_MODE_SEQUENTIAL");
}

int zip_File_set_size(MPI_File fh, MPI_Offset size)
{
	static const char name[] = "MPI_File_set_size";
	struct zfile *f = zfile_find(fh);
	int rc = refuse_sequential(f, name);

	if (rc == MPI_SUCCESS)
		rc = meet_with(f, size, name);
	if (rc != MPI_SUCCESS)
		return rc;
	zfile_out();
	rc = zfile_in(zn.File_set_size(fh, size));
	return leave_together(f, rc);
}

/* ROMIO reads the file and writes it again, and then appends. So one part does it for all. */
int zip_File_preallocate(MPI_File fh, MPI_Offset size)
{
	static const char name[] = "MPI_File_preallocate";
	struct zfile *f = zfile_find(fh);
	int rc = refuse_sequential(f, name), native = MPI_SUCCESS;

	if (rc == MPI_SUCCESS)
		rc = meet_with(f, size, name);
	if (rc != MPI_SUCCESS)
		return rc;
	if (f->twin->my_part == 0) {
		zfile_out();
		native = zfile_in(zn.File_preallocate(fh, size));
	}
	int64_t verdict = zfile_verdict(f->twin, zerror_class(native));
	rc = zfile_agree(f->twin, name, &verdict, 1);
	if (native != MPI_SUCCESS || rc != MPI_SUCCESS)
		return rc == MPI_SUCCESS ? native : rc;
	return verdict == 0 ? MPI_SUCCESS : zfile_raise(fh, zfile_verdict_class(verdict), name);
}

int zip_File_set_atomicity(MPI_File fh, int flag)
{
	int rc = meet_with(zfile_find(fh), flag != 0, "MPI_File_set_atomicity");

	if (rc != MPI_SUCCESS)
		return rc;
	zfile_out();
	return zfile_in(zn.File_set_atomicity(fh, flag));
}

int zip_File_sync(MPI_File fh)
{
	struct zfile *f = zfile_find(fh);
	int rc = zcomm_meet_local(f->twin->shadow); /* the native call may be a barrier (romio_synchronized_flush) */

	if (rc != MPI_SUCCESS)
		return rc;
	zfile_out();
	rc = zfile_in(zn.File_sync(fh));
	return leave_together(f, rc);
}
