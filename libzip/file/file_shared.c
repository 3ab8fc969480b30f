/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data access by shared file pointers on files that span parts. The shared pointer (file_pointer.h) gives the place; a
 * native access by explicit offset follows. Access in the order of the ranks takes one piece of the file for all
 * ranks. Each rank finds its own part of the piece by an exclusive scan.
 */
#include "libzip/file/file_shared.h"

#include <errno.h>
#include <string.h>

#include "libzip/coll/bcast.h"
#include "libzip/coll/scan.h"
#include "libzip/world/error.h"
#include "libzip/shim/shim.h"
#include "libzip/file/file_request.h"

int zfile_shared_error(const struct zfile *f, int error, const char *function)
{
	int class = MPI_ERR_IO;

	if (error == 0)
		return MPI_SUCCESS;
	if (error == -EACCES || error == -EPERM || error == -EROFS)
		class = MPI_ERR_ACCESS;
	else if (error == -ENOSPC || error == -EDQUOT)
		class = MPI_ERR_NO_SPACE;
	else if (error == -EINVAL)
		class = MPI_ERR_ARG;
	return zerror_raise_file(f->handle, class, function, "the shared file pointer in '%s': %s",
		f->shared.path ? f->shared.path : "?", strerror(-error));
}

int zfile_shared_check(const struct zfile *f, const char *function)
{
	return zerror_raise_file(f->handle, f->is_one ? MPI_SUCCESS : MPI_ERR_UNSUPPORTED_OPERATION, function,
		"no shared file pointer without a file that all clusters share");
}

int zfile_shared_refuse(const struct zfile *f, int mode, const char *function)
{
	if ((f->amode & mode) == 0)
		return MPI_SUCCESS;
	if (mode == MPI_MODE_SEQUENTIAL)
		return zerror_raise_file(f->handle, MPI_ERR_UNSUPPORTED_OPERATION, function,
			"not allowed on a file that was opened with MPI_MODE_SEQUENTIAL");
	if (mode == MPI_MODE_RDONLY)
		return zerror_raise_file(f->handle, MPI_ERR_READ_ONLY, function, "the file was opened to be read only");
	return zerror_raise_file(f->handle, MPI_ERR_ACCESS, function, "the file was opened to be written only");
}

/* One access of this rank. */
struct access {
	const char *name;
	MPI_File fh;
	MPI_Count count;
	MPI_Datatype type;
	bool writes;
};

/* The size of an access in etypes. MPI_SUCCESS or an error code that has been raised. */
static int size_of(const struct zfile *f, const struct access *a, int64_t *etypes)
{
	MPI_Count size = 0;
	int rc = zfile_shared_refuse(f, a->writes ? MPI_MODE_RDONLY : MPI_MODE_WRONLY, a->name);

	*etypes = 0;
	if (rc != MPI_SUCCESS)
		return rc;
	if (a->count < 0)
		return zfile_raise(a->fh, MPI_ERR_COUNT, a->name);
	if (a->type == MPI_DATATYPE_NULL)
		return zfile_raise(a->fh, MPI_ERR_TYPE, a->name);
	rc = zn.Type_size_x(a->type, &size);
	if (rc != MPI_SUCCESS)
		return rc;
	if (size * a->count % f->etype_size != 0)
		return zerror_raise_file(a->fh, MPI_ERR_IO, a->name, "no whole number of etypes");
	*etypes = size * a->count / f->etype_size;
	return MPI_SUCCESS;
}

/* Takes a place for this rank alone. */
static int take_alone(const struct access *a, MPI_Offset *at)
{
	struct zfile *f = zfile_find(a->fh);
	int64_t etypes = 0, was = 0;
	int rc = zfile_shared_check(f, a->name);

	if (rc == MPI_SUCCESS)
		rc = size_of(f, a, &etypes);
	if (rc == MPI_SUCCESS)
		rc = zfile_shared_error(f, zfile_pointer_add(&f->shared, etypes, &was), a->name);
	*at = was;
	return rc;
}

/* Takes places for all ranks, in their order. A rank that cannot take part takes nothing, but joins the scan. */
static int take_ordered(const struct access *a, MPI_Offset *at)
{
	struct zfile *f = zfile_find(a->fh);
	int last = f->twin->size - 1, wrong;
	int64_t etypes, before = 0;
	struct {
		int64_t was, error;
	} told = {0, 0};

	int rc = zfile_shared_check(f, a->name);
	if (rc != MPI_SUCCESS)
		return rc;
	wrong = size_of(f, a, &etypes);
	rc = zscan_run_exclusive(f->twin, a->name, &etypes, &before, 1, MPI_INT64_T, MPI_SUM);
	if (f->twin->rank == 0)
		before = 0;
	if (f->twin->rank == last)
		told.error = zfile_pointer_add(&f->shared, before + etypes, &told.was);
	int heard = zbcast_run(f->twin, a->name, &told, 2, MPI_INT64_T, last);
	*at = told.was + before;
	if (rc == MPI_SUCCESS)
		rc = heard;
	if (rc == MPI_SUCCESS)
		rc = wrong;
	return rc == MPI_SUCCESS ? zfile_shared_error(f, (int)told.error, a->name) : rc;
}

/* The functions, each with int and with large counts. TAKE(name, writes) has filled at. */
#define TAKE(how, Name, does_write)                                                                                    \
	MPI_Offset at;                                                                                                 \
	int rc = take_##how(&(struct access){"MPI_File_" Name, fh, count, datatype, does_write}, &at);                 \
	if (rc != MPI_SUCCESS)                                                                                         \
	return rc

#define BLOCKING(Name, how, CONST, At, COUNT, suffix, does_write)                                                      \
	int zip_File_##Name##suffix(MPI_File fh, CONST void *buf, COUNT count, MPI_Datatype datatype,                  \
		MPI_Status *status)                                                                                    \
	{                                                                                                              \
		TAKE(how, #Name, does_write);                                                                          \
		zfile_out();                                                                                           \
		return zfile_in(zn.File_##At##suffix(fh, at, buf, count, datatype, status));                           \
	}
#define NONBLOCKING(Name, CONST, At, COUNT, suffix, does_write)                                                        \
	int zip_File_##Name##suffix(MPI_File fh, CONST void *buf, COUNT count, MPI_Datatype datatype,                  \
		MPI_Request *request)                                                                                  \
	{                                                                                                              \
		TAKE(alone, #Name, does_write);                                                                        \
		zfile_out();                                                                                           \
		rc = zfile_in(zn.File_##At##suffix(fh, at, buf, count, datatype, request));                            \
		return rc == MPI_SUCCESS ? zfile_request_adopt(request, "MPI_File_" #Name) : rc;                       \
	}
/* The begin function does all the work, as in ROMIO. Other than in ROMIO, no rank waits natively for the others. */
#define BEGIN(Name, CONST, At, COUNT, suffix, does_write)                                                              \
	int zip_File_##Name##suffix(MPI_File fh, CONST void *buf, COUNT count, MPI_Datatype datatype)                  \
	{                                                                                                              \
		struct zfile *f = zfile_find(fh);                                                                      \
		if (f->split)                                                                                          \
			return zerror_raise_file(fh, MPI_ERR_IO, "MPI_File_" #Name,                                    \
				"a split collective is under way already");                                            \
		TAKE(ordered, #Name, does_write);                                                                      \
		zfile_out();                                                                                           \
		rc = zfile_in(zn.File_##At##suffix(fh, at, buf, count, datatype, &f->split_status));                   \
		if (rc == MPI_SUCCESS)                                                                                 \
			f->split = does_write ? ZFILE_WRITES : ZFILE_READS;                                            \
		return rc;                                                                                             \
	}
#define FORMS(COUNT, suffix)                                                                                           \
	BLOCKING(read_shared, alone, , read_at, COUNT, suffix, false)                                                  \
	BLOCKING(write_shared, alone, const, write_at, COUNT, suffix, true)                                            \
	BLOCKING(read_ordered, ordered, , read_at, COUNT, suffix, false)                                               \
	BLOCKING(write_ordered, ordered, const, write_at, COUNT, suffix, true)                                         \
	NONBLOCKING(iread_shared, , iread_at, COUNT, suffix, false)                                                    \
	NONBLOCKING(iwrite_shared, const, iwrite_at, COUNT, suffix, true)                                              \
	BEGIN(read_ordered_begin, , read_at, COUNT, suffix, false)                                                     \
	BEGIN(write_ordered_begin, const, write_at, COUNT, suffix, true)

FORMS(int, )
FORMS(MPI_Count, _c)

static int end_split(MPI_File fh, enum zfile_split which, MPI_Status *status, const char *name)
{
	struct zfile *f = zfile_find(fh);

	if (f->split != which)
		return zerror_raise_file(fh, MPI_ERR_IO, name, "it has not been begun");
	f->split = ZFILE_NO_SPLIT;
	if (status != MPI_STATUS_IGNORE)
		*status = f->split_status;
	return MPI_SUCCESS;
}

int zip_File_read_ordered_end(MPI_File fh, void *buf, MPI_Status *status)
{
	(void)buf;
	return end_split(fh, ZFILE_READS, status, "MPI_File_read_ordered_end");
}

int zip_File_write_ordered_end(MPI_File fh, const void *buf, MPI_Status *status)
{
	(void)buf;
	return end_split(fh, ZFILE_WRITES, status, "MPI_File_write_ordered_end");
}
