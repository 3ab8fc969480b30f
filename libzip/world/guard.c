/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of the generated guards. See guard.h. */
#include "libzip/world/guard.h"

#include <stdlib.h>

#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/group.h"
#include "common/base/log.h"
#include "libzip/world/req.h"
#include "libzip/shim/shim.h"

static const char on_comm[] = "not supported on a communicator that spans clusters";

/* The program has received an error and was not ended by it. Many programs never look at errors and go on without the
 * result. So the first time one line tells where it began. */
static void tell_once(const char *function, const char *what)
{
	static bool told;

	if (!told)
		zlog(ZLOG_WARN, "rank %d: %s is %s; the program has got an error (reported once)", zworld.vrank,
			function, what);
	told = true;
}

int zguard_comm(MPI_Comm handle, const char *function)
{
	int rc = MPI_SUCCESS;

	zshim_enter();
	struct zcomm *comm = zcomm_find(handle);
	if (comm) {
		bool first = comm->rank == 0;
		rc = zerror_raise(comm, MPI_ERR_UNSUPPORTED_OPERATION, function, "%s", on_comm);
		if (first)
			tell_once(function, on_comm);
	}
	zshim_leave();
	return rc;
}

bool zguard_spans(MPI_Comm handle)
{
	zshim_enter();
	bool spans = zcomm_find(handle) != NULL;
	zshim_leave();
	return spans;
}

int zguard_requests(int count, const MPI_Request *requests, const char *function)
{
	int rc = MPI_SUCCESS;

	for (int i = 0; i < count && requests; i++) {
		if (!zreq_is_ours(requests[i]))
			continue;
		zshim_enter();
		struct zreq *req = zreq_find(requests[i]);
		rc = zerror_raise(req ? req->comm : NULL, MPI_ERR_UNSUPPORTED_OPERATION, function,
			"not supported on a request of a communicator that spans clusters");
		zshim_leave();
		break;
	}
	return rc;
}

int zguard_group(MPI_Group handle, MPI_Group *native, const char *function)
{
	int rc = MPI_SUCCESS;

	*native = handle;
	zshim_enter();
	struct zgroup *group = zgroup_find(handle);
	if (group && group->size > 0) {
		for (int i = 0; i < group->size && rc == MPI_SUCCESS; i++)
			if (!zworld_is_local(group->vrank[i]))
				rc = zerror_raise(NULL, MPI_ERR_UNSUPPORTED_OPERATION, function,
					"not supported with a group that spans clusters");
		*native = MPI_GROUP_NULL;
		if (rc == MPI_SUCCESS)
			rc = zgroup_to_native(group, native);
	}
	zshim_leave();
	return rc;
}

void zguard_group_done(MPI_Group *native)
{
	if (*native != MPI_GROUP_NULL && *native != MPI_GROUP_EMPTY)
		zn.Group_free(native);
}

int zguard_group_adopt(MPI_Group *group, const char *function)
{
	zshim_enter();
	int rc = zgroup_from_native(group);
	if (rc != MPI_SUCCESS)
		rc = zerror_raise(NULL, rc, function, "the group has processes outside this job");
	zshim_leave();
	return rc;
}

int zguard_null_comm(MPI_Comm handle, const char *function, const char *argument)
{
	zshim_enter();
	int rc = handle == MPI_COMM_NULL
			 ? zerror_raise(NULL, MPI_ERR_COMM, function, "the communicator is MPI_COMM_NULL")
			 : zerror_raise_native(handle, MPI_ERR_ARG, function, ZERROR_NULL, argument);
	zshim_leave();
	return rc;
}

static int __attribute__((format(printf, 3, 4)))
raise_on_window(MPI_Win win, const char *function, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int rc = zerror_raise_window(win, MPI_ERR_ARG, function, fmt, args);
	va_end(args);
	return rc;
}

int zguard_null_win(MPI_Win win, const char *function, const char *argument)
{
	zshim_enter();
	int rc = raise_on_window(win, function, ZERROR_NULL, argument);
	zshim_leave();
	return rc;
}

int zguard_null_file(MPI_File file, const char *function, const char *argument)
{
	zshim_enter();
	int rc = zerror_raise_file(file, MPI_ERR_ARG, function, ZERROR_NULL, argument);
	zshim_leave();
	return rc;
}

MPI_Comm zguard_shadow(MPI_Comm handle)
{
	zshim_enter();
	struct zcomm *comm = zcomm_find(handle);
	MPI_Comm shadow = comm ? comm->shadow : handle;
	zshim_leave();
	return shadow;
}
