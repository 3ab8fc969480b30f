/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_File_set_view on files that span parts, which also sets the shared file pointer to 0; and the functions that
 * move and read that pointer. */
#include <errno.h>

#include "libzip/coll/barrier.h"
#include "libzip/coll/bcast.h"
#include "libzip/world/error.h"
#include "libzip/file/file.h"
#include "libzip/file/file_hints.h"
#include "libzip/file/file_shared.h"
#include "libzip/shim/shim.h"

/* The displacement of a view that begins at the shared pointer. MPI allows it only for a sequential file, and a
 * sequential file allows nothing else. */
static int displacement(struct zfile *f, MPI_Offset *disp, const char *name)
{
	bool sequential = f->amode & MPI_MODE_SEQUENTIAL, current = *disp == MPI_DISPLACEMENT_CURRENT;
	int64_t at;

	if (sequential != current)
		return zerror_raise_file(f->handle, MPI_ERR_ARG, name,
			"MPI_MODE_SEQUENTIAL takes MPI_DISPLACEMENT_CURRENT alone, and no other mode takes it");
	if (!current)
		return MPI_SUCCESS;
	int rc = zfile_shared_check(f, name);
	if (rc == MPI_SUCCESS)
		rc = zfile_shared_error(f, zfile_pointer_get(&f->shared, &at), name);
	if (rc != MPI_SUCCESS)
		return rc;
	zfile_out();
	return zfile_in(zn.File_get_byte_offset(f->handle, at, disp));
}

/* Sets the pointer to 0 when all members have come and none uses it. */
static int rewind_shared(struct zfile *f, const char *name)
{
	int64_t used = f->shared.fd >= 0;
	int rc = zfile_agree(f->twin, name, &used, 1);

	f->shared.origin = 0;
	if (rc == MPI_SUCCESS && used && f->twin->rank == 0)
		rc = zfile_shared_error(f, zfile_pointer_set(&f->shared, 0), name);
	if (used) {
		int after = zbarrier_run(f->twin);
		rc = rc == MPI_SUCCESS ? after : rc;
	}
	return rc;
}

int zip_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype, const char *datarep,
	MPI_Info info)
{
	static const char name[] = "MPI_File_set_view";
	struct zfile *f = zfile_find(fh);
	MPI_Info hints = info;
	MPI_Count size = 0;
	int rc = displacement(f, &disp, name);

	if (rc != MPI_SUCCESS)
		return rc;
	rc = zfile_hints(info, f->amode, &hints);
	int rewound = rewind_shared(f, name);
	if (rc == MPI_SUCCESS)
		rc = rewound;
	if (rc == MPI_SUCCESS) {
		zfile_out();
		rc = zfile_in(zn.File_set_view(fh, disp, etype, filetype, datarep, hints));
	}
	if (hints != info)
		zn.Info_free(&hints);
	if (rc == MPI_SUCCESS && zn.Type_size_x(etype, &size) == MPI_SUCCESS && size > 0)
		f->etype_size = size;
	return rc;
}

int zip_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
	struct zfile *f = zfile_find(fh);
	int64_t at = 0;
	int rc = zfile_shared_refuse(f, MPI_MODE_SEQUENTIAL, "MPI_File_get_position_shared");

	if (rc == MPI_SUCCESS)
		rc = zfile_shared_check(f, "MPI_File_get_position_shared");
	if (rc == MPI_SUCCESS)
		rc = zfile_shared_error(f, zfile_pointer_get(&f->shared, &at), "MPI_File_get_position_shared");
	if (rc == MPI_SUCCESS)
		*offset = at;
	return rc;
}

/* The end of the file in etypes of the view. ROMIO knows it, and tells it by the individual pointer. */
static int find_end(MPI_File fh, MPI_Offset *end)
{
	MPI_Offset mine;

	zfile_out();
	int rc = zn.File_get_position(fh, &mine);

	if (rc == MPI_SUCCESS)
		rc = zn.File_seek(fh, 0, MPI_SEEK_END);
	if (rc == MPI_SUCCESS)
		rc = zn.File_get_position(fh, end);
	int back = zn.File_seek(fh, mine, MPI_SEEK_SET);
	return zfile_in(rc == MPI_SUCCESS ? back : rc);
}

/* Moves the pointer; called by rank 0. 0 or a negative errno; -EINVAL: the caller's fault. */
static int move_to(struct zfile *f, MPI_Offset offset, int whence)
{
	int64_t from = 0;
	MPI_Offset end;
	int rc = 0;

	if (whence == MPI_SEEK_CUR)
		rc = zfile_pointer_get(&f->shared, &from);
	if (whence == MPI_SEEK_END) {
		rc = find_end(f->handle, &end) == MPI_SUCCESS ? 0 : -EIO;
		from = end;
	}
	if (rc == 0 && from + offset < 0)
		rc = -EINVAL;
	return rc == 0 ? zfile_pointer_set(&f->shared, from + offset) : rc;
}

int zip_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
	static const char name[] = "MPI_File_seek_shared";
	struct zfile *f = zfile_find(fh);
	bool known = whence == MPI_SEEK_SET || whence == MPI_SEEK_CUR || whence == MPI_SEEK_END;
	int64_t said[4] = {offset, -offset, whence, -whence};
	int rc = zfile_shared_refuse(f, MPI_MODE_SEQUENTIAL, name), error = 0;

	if (rc == MPI_SUCCESS)
		rc = zfile_shared_check(f, name);
	if (rc == MPI_SUCCESS)
		rc = zfile_agree(f->twin, name, said, 4);
	if (rc != MPI_SUCCESS)
		return rc;
	if (!known || said[0] != -said[1] || said[2] != -said[3])
		return zerror_raise_file(fh, MPI_ERR_ARG, name,
			"offset or whence is wrong, or not the same in all processes");
	if (f->twin->rank == 0)
		error = move_to(f, offset, whence);
	rc = zbcast_run(f->twin, name, &error, 1, MPI_INT, 0);
	return rc == MPI_SUCCESS ? zfile_shared_error(f, error, name) : rc;
}
