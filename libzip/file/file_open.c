/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_File_open and MPI_File_close on files that span parts. The first part creates a file, alone. The others then
 * open an existing file, so they do not create another one where they see another file system.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libzip/coll/barrier.h"
#include "libzip/coll/bcast.h"
#include "libzip/comm/comm_meet.h"
#include "libzip/comm/comm_twin.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"
#include "libzip/file/file.h"
#include "libzip/file/file_amode.h"
#include "libzip/file/file_beside.h"
#include "libzip/file/file_hints.h"
#include "libzip/file/file_same.h"
#include "common/base/log.h"
#include "libzip/shim/shim.h"

static const char open_name[] = "MPI_File_open", close_name[] = "MPI_File_close";

/* Bits of the access mode that the parts must not act on natively. */
#define OURS (MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_SEQUENTIAL)

/* One call. */
struct opening {
	struct zfile *f;
	MPI_Info info;
	int info_code;		 /* result of making file and twin */
	const char *native_name; /* the name with ROMIO's prefix */
	char *made_name;	 /* freed by the caller */
	bool is_new;		 /* rank 0: the file did not exist before */
	int code;		 /* result of the native call here */
	int64_t verdict;
};

/* ROMIO takes a word in front of a colon for the kind of the file system, unless the word is one letter. */
static const char *without_prefix(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon > name + 1 ? colon + 1 : name;
}

static void free_file(struct zfile *f)
{
	zcomm_unref(f->twin);
	zfile_pointer_fini(&f->shared);
	free(f->name);
	free(f);
}

/* --- opening --- */

/* Native errors would go to the handler of MPI_FILE_NULL in this part alone. All members call it later. */
static void open_native(struct opening *o, int amode)
{
	struct zfile *f = o->f;

	zhandlers_hush_files();
	zfile_out();
	o->code = zfile_in(zn.File_open(f->twin->shadow, o->native_name, amode, o->info, &f->handle));
	if (o->code != MPI_SUCCESS)
		f->handle = MPI_FILE_NULL;
	zhandlers_unhush_files(f->handle);
}

/* Gathers the results of all members; some members had nothing to do. */
static int hear(struct opening *o)
{
	o->verdict = zfile_verdict(o->f->twin, zerror_class(o->code));
	return zfile_agree(o->f->twin, open_name, &o->verdict, 1);
}

/* Do all members want the same, and is it possible? If one part sees NFS, all take ROMIO's driver for NFS, also the
 * part whose cluster has the server: the locks of that driver keep writes apart. */
static int prepare(struct opening *o, const char *name)
{
	enum { AMODE, MINUS_AMODE, ON_NFS, NOT_ON_NFS, VERDICT, VALUES };
	struct zfile *f = o->f;
	int class = !name ? MPI_ERR_NO_SUCH_FILE : f->name ? zfile_amode_check(f->amode) : MPI_ERR_NO_MEM;
	if (class == MPI_SUCCESS)
		class = zerror_class(o->info_code);
	bool plain = f->name && without_prefix(name) == name, nfs = plain && zfile_beside_is_on_nfs(f->name);
	const int64_t amode = zfile_amode_number(f->amode);
	int64_t said[VALUES] = {[AMODE] = amode,
		[MINUS_AMODE] = -amode,
		[ON_NFS] = nfs,
		[NOT_ON_NFS] = plain && !nfs,
		[VERDICT] = zfile_verdict(f->twin, class)};
	int rc = zfile_agree(f->twin, open_name, said, VALUES);

	if (rc != MPI_SUCCESS)
		return rc;
	o->verdict = said[VERDICT];
	if (o->verdict != 0)
		return zfile_raise(MPI_FILE_NULL, zfile_verdict_class(o->verdict), open_name);
	if (said[AMODE] != -said[MINUS_AMODE])
		return zerror_raise_file(MPI_FILE_NULL, MPI_ERR_NOT_SAME, open_name,
			"the access modes of the processes differ");
	o->native_name = name;
	if (plain && said[ON_NFS] && said[NOT_ON_NFS] && asprintf(&o->made_name, "nfs:%s", name) > 0)
		o->native_name = o->made_name;
	return MPI_SUCCESS;
}

/* Opens the file natively in all members; the verdict is the result. */
static int open_all(struct opening *o)
{
	struct zfile *f = o->f;
	int amode = f->amode & ~OURS, rc = MPI_SUCCESS;
	bool first = f->twin->my_part == 0;

	o->code = MPI_SUCCESS;
	if (amode & ZFILE_AMODE_CREATES) {
		if (f->twin->rank == 0)
			o->is_new = access(f->name, F_OK) != 0 && errno == ENOENT;
		if (first)
			open_native(o, amode);
		rc = hear(o);
		amode &= ~ZFILE_AMODE_CREATES;
	}
	if (rc != MPI_SUCCESS || o->verdict != 0)
		return rc;
	if (f->amode & ZFILE_AMODE_CREATES && !first) {
		zfile_beside_await(f->name); /* if the file does not come, the native call reports it */
		rc = zcomm_meet_local(f->twin->shadow);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	if (f->handle == MPI_FILE_NULL)
		open_native(o, amode);
	return hear(o);
}

static void undo(struct opening *o)
{
	struct zfile *f = o->f;

	/* Closing waits for the members of this part: a file that some of them do not have stays open. */
	if (zcomm_meet_all(f->twin->shadow, f->handle != MPI_FILE_NULL) && f->handle != MPI_FILE_NULL) {
		zfile_out();
		zfile_in(zn.File_close(&f->handle));
	}
	struct stat st;
	if (o->is_new && stat(f->name, &st) == 0 && st.st_size == 0)
		unlink(f->name);
}

#define TOLD_BYTES 512 /* of a text, in all families: MPICH's MPI_MAX_ERROR_STRING */

/* Raises the same error everywhere. Only the member that met it has the text of its code. */
static int fail(struct opening *o)
{
	char text[MPI_MAX_ERROR_STRING], told[TOLD_BYTES];
	struct zcomm *twin = o->f->twin;
	int class = zfile_verdict_class(o->verdict), rank = zfile_verdict_rank(twin, o->verdict), len;

	if (rank != twin->rank || zn.Error_string(o->code, text, &len) != MPI_SUCCESS)
		zfile_class_text(class, text);
	zerror_cut_stack(text);
	snprintf(told, sizeof(told), "%.*s", TOLD_BYTES - 1, text);
	int rc = zbcast_run(twin, open_name, told, sizeof(told), MPI_CHAR, rank);
	if (rc != MPI_SUCCESS)
		return rc;
	return zerror_raise_file(MPI_FILE_NULL, class, open_name, "'%s', at rank %d (part '%s'): %.*s", o->f->name,
		rank, zfile_part_name(twin, rank), (int)sizeof(told), told);
}

static int fail_not_same(struct opening *o, int leader, const char *why)
{
	const struct zcomm *twin = o->f->twin;

	if (twin->rank == 0)
		zlog(ZLOG_WARN,
			"rank %d: MPI_File_open: part '%s' does not see the file '%s' of part '%s' (%s): all "
			"clusters must mount its file system",
			zworld.vrank, zfile_part_name(twin, leader), o->f->name, zfile_part_name(twin, 0), why);
	return zerror_raise_file(MPI_FILE_NULL, MPI_ERR_NOT_SAME, open_name,
		"part '%s' does not see the file of part '%s' (%s): all clusters must mount its file system",
		zfile_part_name(twin, leader), zfile_part_name(twin, 0), why);
}

/* The first part has just made the file, and another part does not find it. */
static bool is_elsewhere(const struct opening *o)
{
	const struct zcomm *twin = o->f->twin;

	return o->f->amode & ZFILE_AMODE_CREATES && zfile_verdict_class(o->verdict) == MPI_ERR_NO_SUCH_FILE &&
	       zfile_part_name(twin, zfile_verdict_rank(twin, o->verdict)) != zfile_part_name(twin, 0);
}

/* With MPI_MODE_APPEND the shared pointer begins at the end. */
static int init_shared(struct zfile *f)
{
	struct {
		char random[ZFILE_BESIDE_RANDOM];
		MPI_Offset end;
	} told = {.end = 0};

	if (f->twin->rank == 0) {
		zfile_beside_random(told.random);
		zfile_out();
		if (f->amode & MPI_MODE_APPEND)
			zn.File_get_position(f->handle, &told.end);
		zfile_in(MPI_SUCCESS);
	}
	int rc = zbcast_run(f->twin, open_name, &told, sizeof(told), MPI_BYTE, 0);
	char *path = rc == MPI_SUCCESS ? zfile_beside_name(f->name, told.random) : NULL;
	if (path)
		zfile_pointer_init(&f->shared, path,
			told.end); /* without memory, functions on the shared pointer fail */
	free(path);
	return rc;
}

static int open_spanning(struct opening *o, const char *name)
{
	struct zfile *f = o->f;
	struct zfile_same same = {.leader = -1};
	int rc = prepare(o, name);

	if (rc == MPI_SUCCESS)
		rc = open_all(o);
	if (rc == MPI_SUCCESS && o->verdict == 0)
		rc = zfile_same_check(f->twin, open_name, f->name, zfile_may_write(f), &same);
	f->is_one = same.is_one;
	if (rc == MPI_SUCCESS && o->verdict == 0 && same.leader < 0)
		return init_shared(f);
	undo(o);
	if (rc != MPI_SUCCESS)
		return rc;
	if (same.leader < 0 && is_elsewhere(o))
		same = (struct zfile_same){.leader = zfile_verdict_rank(f->twin, o->verdict), .why = "it is not there"};
	return same.leader < 0 ? fail(o) : fail_not_same(o, same.leader, same.why);
}

/* Checks with the same result in all members. */
static int check(const struct zcomm *c)
{
	if (c->local)
		return zerror_raise_file(MPI_FILE_NULL, MPI_ERR_COMM, open_name,
			"an intercommunicator cannot have files");
	if (zworld.external32)
		return zerror_raise_file(MPI_FILE_NULL, MPI_ERR_UNSUPPORTED_DATAREP, open_name,
			"clusters whose data representations differ cannot share files");
	return MPI_SUCCESS;
}

/* Collective, because making the twin is. NULL: *rc has been raised. */
static struct zfile *make_file(struct zcomm *c, const char *filename, int amode, int *rc)
{
	struct zfile *f = calloc(1, sizeof(*f));
	struct zcomm_outcome outcome = {0};
	struct zcomm *twin = zcomm_twin(c, open_name, &outcome);

	if (f && twin) {
		*f = (struct zfile){.handle = MPI_FILE_NULL,
			.twin = twin,
			.amode = amode,
			.etype_size = 1,
			.shared = ZFILE_POINTER_NONE};
		f->name = filename ? strdup(without_prefix(filename)) : NULL;
		return f;
	}
	if (twin) {
		zcomm_unref(twin);
		*rc = zfile_raise(MPI_FILE_NULL, MPI_ERR_NO_MEM, open_name);
	}
	if (!twin) /* errors of this function belong to no communicator */
		*rc = zerror_raise_file(MPI_FILE_NULL, zcomm_outcome_class(&outcome), open_name, "%s", outcome.text);
	free(f);
	return NULL;
}

int zip_File_open(MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh)
{
	struct zcomm *c = zcomm_find(comm);
	int rc = check(c);

	zcomm_reap();
	*fh = MPI_FILE_NULL;
	struct opening o = {.f = rc == MPI_SUCCESS ? make_file(c, filename, amode, &rc) : NULL};
	if (!o.f)
		return rc;
	o.info_code = zfile_hints(info, amode, &o.info);
	rc = open_spanning(&o, filename);
	if (o.info != info)
		zn.Info_free(&o.info);
	free(o.made_name);
	if (rc != MPI_SUCCESS) {
		free_file(o.f);
		return rc;
	}
	zfile_add(o.f);
	*fh = o.f->handle;
	return MPI_SUCCESS;
}

/* --- closing --- */

/* Must the pointer's file be removed? When all have answered, no member has it open. */
static int close_shared(struct zfile *f, int64_t *used)
{
	*used = f->shared.fd >= 0;
	zfile_pointer_close(&f->shared);
	return zfile_agree(f->twin, close_name, used, 1);
}

int zip_File_close(MPI_File *fh)
{
	struct zfile *f = zfile_find(*fh);
	int64_t used = 0;

	zfile_remove(f);
	int rc = close_shared(f, &used);
	if (used && f->twin->rank == 0)
		zfile_pointer_delete(&f->shared);
	zfile_out();
	int native = zfile_in(zn.File_close(fh));
	if (rc == MPI_SUCCESS && f->amode & MPI_MODE_DELETE_ON_CLOSE) {
		rc = zbarrier_run(f->twin);
		if (f->twin->rank == 0 && rc == MPI_SUCCESS && unlink(f->name) != 0)
			rc = zerror_raise_file(MPI_FILE_NULL, MPI_ERR_IO, close_name, "cannot delete '%s': %s", f->name,
				strerror(errno));
		/* a rank that has closed the file finds it gone */
		int after = zbarrier_run(f->twin);
		rc = rc == MPI_SUCCESS ? after : rc;
	}
	free_file(f);
	zcomm_reap();
	return rc == MPI_SUCCESS ? native : rc;
}
