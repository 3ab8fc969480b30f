/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Request_get_status and its kin of MPI-4.1 (section 3.7.6): is a request complete, and with what status? The
 * requests stay. As in MPICH, a request that has failed is an error of the call, each time: that of the request, or
 * MPI_ERR_IN_STATUS where the function returns several statuses. An error that its handler has had is returned alone.
 */
#include "libzip/p2p/completion.h"
#include "libzip/p2p/mix.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"
#include "libzip/world/status.h"

static bool is_ready(struct zreq *r)
{
	return zcompletion_is_inactive(r) || zreq_is_done(r);
}

/* Of a request that is ready. Returns its error, a class or a code. MPI_ERROR is left alone. */
static int status_of(const struct zreq *r, MPI_Status *status)
{
	if (zcompletion_is_inactive(r)) {
		if (status != MPI_STATUS_IGNORE)
			zstatus_empty(status);
		return MPI_SUCCESS;
	}
	if (status != MPI_STATUS_IGNORE) {
		int kept = status->MPI_ERROR;
		*status = r->status;
		status->MPI_ERROR = kept;
	}
	return r->status.MPI_ERROR;
}

static int one_failed(const struct zreq *r, int error, const char *name)
{
	char text[ZCOMPLETION_TEXT_BYTES];

	if (r->raised)
		return error;
	zcompletion_describe(r, text);
	return zcompletion_raise(zhandlers_home(), error, name, text);
}

static int some_failed(const char *name)
{
	return zerror_raise(NULL, MPI_ERR_IN_STATUS, name, "an operation failed: see its status");
}

int zip_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
	static const char name[] = "MPI_Request_get_status";
	struct zreq *r;

	zprogress_poll_beside();
	if (!zreq_is_ours(request))
		return zn.Request_get_status(request, flag, status);
	r = zreq_find(request);
	if (!r)
		return zerror_raise(NULL, MPI_ERR_REQUEST, name, "no such request");
	if (!flag || zstatus_is_missing(status))
		return zerror_raise(NULL, MPI_ERR_ARG, name, ZERROR_NULL, flag ? "status" : "flag");
	*flag = is_ready(r);
	if (!*flag) {
		zprogress_test_failed(false);
		return MPI_SUCCESS;
	}
	int error = status_of(r, status);
	return error == MPI_SUCCESS ? error : one_failed(r, error, name);
}

/* The result is no error code: 1 where the request is complete, 0 otherwise. */
int zip_X_Request_is_complete(MPI_Request request)
{
	zprogress_poll_beside();
	if (!zreq_is_ours(request))
		return zn.X_Request_is_complete(request);
	struct zreq *r = zreq_find(request);
	return r && is_ready(r);
}

/* Completes the statuses, of which native MPI has filled its own. True: one of our requests has failed. */
static bool fill_all(const struct zmix *m, MPI_Status *statuses, int native_rc)
{
	bool failed = false;

	for (int i = 0; i < m->n; i++) {
		MPI_Status *status = zmix_nth(statuses, i);
		struct zreq *r = zmix_ours(m, i);
		int error = r ? status_of(r, status) : MPI_SUCCESS;
		failed |= error != MPI_SUCCESS;
		if (status == MPI_STATUS_IGNORE)
			continue;
		if (!r && !m->any_native)
			zstatus_empty(status); /* native MPI has not seen the array */
		if (r || native_rc == MPI_SUCCESS)
			status->MPI_ERROR = error;
	}
	return failed;
}

static int get_all(const struct zmix *m, int *flag, MPI_Status *statuses, const char *name)
{
	int native_rc = MPI_SUCCESS;

	/* Native MPI is asked last: it raises an error only where all are complete. */
	*flag = zmix_are_ours_ready(m);
	if (*flag && m->any_native)
		native_rc = zn.Request_get_status_all(m->n, m->native, flag, statuses);
	if (!*flag)
		return native_rc;
	bool failed = fill_all(m, statuses, native_rc);
	return native_rc == MPI_SUCCESS && failed ? some_failed(name) : native_rc;
}

int zip_Request_get_status_all(int n, const MPI_Request requests[], int *flag, MPI_Status statuses[])
{
	static const char name[] = "MPI_Request_get_status_all";
	struct zmix m;
	int rc = zmix_open(&m, n, (MPI_Request *)(uintptr_t)requests, name,
		flag ? zmix_missing_statuses(n, statuses) : "flag");

	if (rc != MPI_SUCCESS)
		return rc;
	zprogress_poll_beside();
	if (m.native == m.all)
		return zn.Request_get_status_all(n, requests, flag, statuses);
	rc = get_all(&m, flag, statuses, name);
	if (!*flag)
		zprogress_test_failed(false);
	zmix_close(&m);
	return rc;
}

/* *index is MPI_UNDEFINED unless one is complete. Then it is ours before a native one. */
static int get_any(const struct zmix *m, int *index, int *flag, MPI_Status *status, const char *name)
{
	bool active = false;
	int rc = MPI_SUCCESS;

	*index = MPI_UNDEFINED;
	for (int i = 0; i < m->n; i++) {
		struct zreq *r = zmix_active(m, i);
		if (!r)
			continue;
		active = true;
		if (!zreq_is_done(r))
			continue;
		*index = i;
		*flag = 1;
		rc = status_of(r, status);
		return rc == MPI_SUCCESS ? rc : one_failed(r, rc, name);
	}
	*flag = 1;
	if (m->any_native)
		rc = zn.Request_get_status_any(m->n, m->native, index, flag, status);
	if (!*flag)
		*index = MPI_UNDEFINED;
	if (rc != MPI_SUCCESS || *index != MPI_UNDEFINED)
		return rc;
	*flag = *flag && !active; /* there is none to wait for */
	if (*flag && status != MPI_STATUS_IGNORE)
		zstatus_empty(status);
	return MPI_SUCCESS;
}

int zip_Request_get_status_any(int n, const MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	static const char name[] = "MPI_Request_get_status_any";
	struct zmix m;
	int rc = zmix_open(&m, n, (MPI_Request *)(uintptr_t)requests, name,
		!index			     ? "indx"
		: !flag			     ? "flag"
		: zstatus_is_missing(status) ? "status"
					     : NULL);

	if (rc != MPI_SUCCESS)
		return rc;
	zprogress_poll_beside();
	if (m.native == m.all)
		return zn.Request_get_status_any(n, requests, index, flag, status);
	rc = get_any(&m, index, flag, status, name);
	if (!*flag)
		zprogress_test_failed(false);
	zmix_close(&m);
	return rc;
}

static int get_some(const struct zmix *m, int *count, int indices[], MPI_Status statuses[], const char *name)
{
	int got = MPI_UNDEFINED, rc = MPI_SUCCESS;
	bool active, failed = false;

	if (m->any_native)
		rc = zn.Request_get_status_some(m->n, m->native, &got, indices, statuses);
	active = got != MPI_UNDEFINED;
	got = active ? got : 0;
	for (int i = 0; rc == MPI_SUCCESS && statuses != MPI_STATUSES_IGNORE && i < got; i++)
		statuses[i].MPI_ERROR = MPI_SUCCESS;
	for (int i = 0; i < m->n; i++) {
		struct zreq *r = zmix_active(m, i);
		if (!r)
			continue;
		active = true;
		if (!zreq_is_done(r))
			continue;
		MPI_Status *status = zmix_nth(statuses, got);
		int error = status_of(r, status);
		if (status != MPI_STATUS_IGNORE)
			status->MPI_ERROR = error;
		failed |= error != MPI_SUCCESS;
		indices[got++] = i;
	}
	*count = active ? got : MPI_UNDEFINED;
	return rc == MPI_SUCCESS && failed ? some_failed(name) : rc;
}

int zip_Request_get_status_some(int n, const MPI_Request requests[], int *count, int indices[], MPI_Status statuses[])
{
	static const char name[] = "MPI_Request_get_status_some";
	struct zmix m;
	int rc = zmix_open(&m, n, (MPI_Request *)(uintptr_t)requests, name,
		zmix_missing_some(n, count, indices, statuses));

	if (rc != MPI_SUCCESS)
		return rc;
	zprogress_poll_beside();
	if (m.native == m.all)
		return zn.Request_get_status_some(n, requests, count, indices, statuses);
	rc = get_some(&m, count, indices, statuses, name);
	if (*count == 0)
		zprogress_test_failed(false);
	zmix_close(&m);
	return rc;
}
