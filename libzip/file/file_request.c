/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of nonblocking access to files. See file_request.h. A native one is a generalized request, which ROMIO's
 * own functions complete inside native tests. These functions call public MPI functions. And MPI_Testall of MPICH
 * 4.0.2 calls them once more for each request that is complete already, and crashes; MPI_Request_get_status never
 * calls them. So the native request hides in a request of ours.
 */
#include "libzip/world/error.h"
#include "libzip/file/file.h"
#include "libzip/file/file_request.h"
#include "libzip/progress/progress.h"
#include "libzip/world/req.h"
#include "libzip/shim/shim.h"

struct access {
	struct zreq req;
	MPI_Request native;
};

static bool progress(struct zreq *r)
{
	struct access *a = (struct access *)(void *)r;
	int flag = 0;

	if (r->done)
		return true;
	zshim_depth++;
	int rc = zerror_test_native(&a->native, &flag, &r->status);
	zshim_depth--;
	if (!flag && rc == MPI_SUCCESS)
		return false;
	r->status.MPI_ERROR = rc;
	zprogress_natives--;
	zreq_complete(r);
	return true;
}

static const struct zreq_ops ops = {.name = "file access", .progress = progress};

int zfile_request_adopt(MPI_Request *request, const char *function)
{
	struct access *a = (struct access *)(void *)zreq_create(&ops, sizeof(*a), NULL);

	if (!a)
		goto err_native;
	a->native = *request;
	if (zreq_publish(&a->req, request) == MPI_SUCCESS) {
		zprogress_natives++;
		return MPI_SUCCESS;
	}
	zreq_release(&a->req);
err_native:
	zfile_out();
	zfile_in(zn.Wait(request, MPI_STATUS_IGNORE));
	return zfile_raise(MPI_FILE_NULL, MPI_ERR_NO_MEM, function);
}
