/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Wait, MPI_Test and other functions for one request. */
#include "libzip/p2p/completion.h"

#include <stdio.h>

#include "libzip/bridge/anysource.h"
#include "libzip/bridge/op_start.h"
#include "libzip/progress/progress.h"
#include "libzip/stream/op.h"
#include "libzip/shim/station.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"
#include "libzip/shim/shim.h"
#include "libzip/world/status.h"

/* Native tests before the first turn of the bridge, and between turns, on a core of our own. A native test takes 20 to
 * 40 ns, or 0.5 us where the native job spans hosts that TCP connects; a turn may cost a system call. The first ones
 * take about the time that a running local peer needs to answer. */
#define NATIVE_TESTS_FIRST 64
#define NATIVE_TESTS 8

MPI_Request zcompletion_sent = MPI_REQUEST_NULL;

void zcompletion_init(void)
{
	MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

	for (int i = 0; i < 2; i++)
		if (zn.Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &r[i]) != MPI_SUCCESS)
			return;
	/* One handle for two sends that nobody has waited for: it stands for no send in particular. */
	zcompletion_sent = r[0] == r[1] ? r[0] : MPI_REQUEST_NULL;
	for (int i = 0; i < 2; i++)
		zn.Wait(&r[i], MPI_STATUS_IGNORE);
}

/* MPI_ERROR is for functions that return several statuses (MPI-4.0 section 3.2.5). */
static void fill(MPI_Status *status, const struct zreq *r)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	int kept = status->MPI_ERROR;
	*status = r->status;
	status->MPI_ERROR = kept;
}

int zcompletion_deliver(struct zreq *r, MPI_Request *request, MPI_Status *status)
{
	int error = r->status.MPI_ERROR;

	fill(status, r);
	if (r->persistent) {
		r->active = false;
	} else {
		*request = MPI_REQUEST_NULL;
		zreq_release(r);
	}
	return error;
}

static const char *class_text(int class)
{
	switch (class) {
	case MPI_ERR_TRUNCATE:
		return "the message is longer than the receive buffer";
	case MPI_ERR_TYPE:
		return "the message ends within an element of the receive's datatype, or is MPI_PACKED of another "
		       "representation";
	case MPI_ERR_NO_MEM:
		return "out of memory";
	default:
		return "the operation failed";
	}
}

void zcompletion_describe(const struct zreq *r, char text[ZCOMPLETION_TEXT_BYTES])
{
	const struct zop *op = (const struct zop *)(const void *)r;

	text[0] = '\0';
	if (r->ops->why)
		snprintf(text, ZCOMPLETION_TEXT_BYTES, "%s", r->ops->why(r));
	/* A receive that native MPI has completed has only the class. */
	if (r->status.MPI_ERROR == MPI_ERR_TRUNCATE && r->ops == &zop_start_recv_ops && op->t.total > op->data.bytes)
		snprintf(text, ZCOMPLETION_TEXT_BYTES,
			"the message of %llu bytes from rank %d, tag %d, is longer than the receive buffer of %llu",
			(unsigned long long)op->t.total, r->status.MPI_SOURCE, r->status.MPI_TAG,
			(unsigned long long)op->data.bytes);
}

/* Plain classes are ours. Codes of native MPI say more; where they are classes, too, a request has a code of ours. */
bool zcompletion_is_raised(int error)
{
	return !zabi_error_is_plain(error) && !zerror_is_own(error);
}

int zcompletion_raise(MPI_Comm on, int error, const char *name, const char *text)
{
	if (error == MPI_SUCCESS || zcompletion_is_raised(error))
		return error;
	if (zerror_is_own(error))
		return zerror_raise_own(on, error);
	return zerror_raise_native(on, error, name, "%s", text[0] ? text : class_text(error));
}

/* The communicator on which MPI_Wait and MPI_Test raise the error of that request. A persistent request has kept its
 * communicator in every version of MPICH. */
static MPI_Comm raised_on(const struct zreq *r)
{
	if ((zhandlers_own() || r->persistent) && (r->comm || r->local))
		return r->comm ? r->comm->handle : r->local;
	return zhandlers_home();
}

MPI_Comm zcompletion_raised_on(const struct zreq *r)
{
	return ZABI_RAISES_ON_OWN ? raised_on(r) : zhandlers_home();
}

int zcompletion_finish(struct zreq *r, MPI_Request *request, MPI_Status *status, MPI_Comm on, const char *name)
{
	char text[ZCOMPLETION_TEXT_BYTES];

	if (__builtin_expect(r->status.MPI_ERROR == MPI_SUCCESS, 1) || r->raised)
		return zcompletion_deliver(r, request, status);
	zcompletion_describe(r, text);
	if (on == MPI_COMM_NULL)
		on = raised_on(r);
	return zcompletion_raise(on, zcompletion_deliver(r, request, status), name, text);
}

/* argument: the one that is a null pointer; NULL: the request does not exist. */
static int wrong_argument(const char *argument, const char *name)
{
	if (argument)
		return zerror_raise(NULL, MPI_ERR_ARG, name, ZERROR_NULL, argument);
	return zerror_raise(NULL, MPI_ERR_REQUEST, name, "no such request");
}

/* Where native MPI raises an error. HUSHED: nowhere, and rc is a class. */
enum raises { AT_HOME, ON_OWN, HUSHED };

struct native_wait {
	MPI_Request *request;
	MPI_Status *status;
	int rc;
	enum raises where;
};

/* MPI_Testany looks at the request before it turns native progress, MPI_Test the other way round: 264 instructions
 * instead of 462 for a request that is complete already (MPICH 4.0). For an inactive request MPI_Testany does not
 * always fill the status. */
static inline int test_once(MPI_Request *request, int *flag, MPI_Status *status)
{
	int index, rc = zn.Testany(1, request, &index, flag, status);

	if (rc == MPI_SUCCESS && *flag && __builtin_expect(index == MPI_UNDEFINED, 0) && status != MPI_STATUS_IGNORE)
		zstatus_empty(status);
	return rc;
}

static bool test_native(struct native_wait *w, int times)
{
	bool hushed = w->where == HUSHED && zhandlers_hush();
	int flag = 0;

	for (int i = 0; i < times && !flag && w->rc == MPI_SUCCESS; i++)
		w->rc = w->where == ON_OWN ? zn.Test(w->request, &flag, w->status)
					   : test_once(w->request, &flag, w->status);
	zhandlers_unhush(hushed);
	if (hushed)
		w->rc = zerror_class(w->rc);
	return flag || w->rc != MPI_SUCCESS;
}

static bool native_done(void *ctx)
{
	return test_native(ctx, zprogress_native_tests(NATIVE_TESTS));
}

/* For a request that was not complete at once, or whose error native MPI must not raise. */
static __attribute__((noinline)) int wait_native(MPI_Request *request, MPI_Status *status, enum raises where)
{
	struct native_wait w = {request, status, MPI_SUCCESS, where};
	int tests = zprogress_native_tests(NATIVE_TESTS_FIRST);

	if (tests > 1 && test_native(&w, tests))
		zprogress_now_and_then();
	else
		zprogress_wait_native(native_done, &w);
	return w.rc;
}

static inline __attribute__((always_inline)) int wait_native_on(MPI_Request *request, MPI_Status *status, MPI_Comm on,
	const char *name)
{
	if (__builtin_expect(zhandlers_differ, 0)) {
		if (on != MPI_COMM_NULL && on != zhandlers_home() && !ZABI_RAISES_ON_OWN)
			return zcompletion_raise(on, wait_native(request, status, HUSHED), name, "");
		if (on == MPI_COMM_NULL ||
			ZABI_RAISES_ON_OWN) /* MPI_Test raises where MPI_Wait does, with every version */
			return wait_native(request, status, ON_OWN);
	}

	int flag, rc = test_once(request, &flag, status);
	if (rc == MPI_SUCCESS && !flag)
		return wait_native(request, status, AT_HOME);
	zprogress_now_and_then();
	return rc;
}

int zcompletion_wait_native(MPI_Request *request, MPI_Status *status, MPI_Comm on, const char *name)
{
	return wait_native_on(request, status, on, name);
}

int zcompletion_wait(MPI_Request *request, MPI_Status *status, MPI_Comm on, const char *name)
{
	if (!zreq_is_ours(*request))
		return zcompletion_wait_native(request, status, on, name);
	struct zreq *r = zreq_find(*request);
	if (__builtin_expect(!r || zstatus_is_missing(status), 0))
		return wrong_argument(r ? "status" : NULL, name);
	if (zcompletion_is_inactive(r)) {
		if (status != MPI_STATUS_IGNORE)
			zstatus_empty(status);
		return MPI_SUCCESS;
	}
	if (!r->done)
		zprogress_wait_request(r);
	return zcompletion_finish(r, request, status, on, name);
}

/* For one of our requests, which is alive. */
static int look_ours(struct zreq *r, MPI_Request *request, int *flag, MPI_Status *status)
{
	*flag = 1;
	if (zcompletion_is_inactive(r)) {
		if (status != MPI_STATUS_IGNORE)
			zstatus_empty(status);
		return MPI_SUCCESS;
	}
	if (zreq_is_done(r))
		return zcompletion_deliver(r, request, status);
	*flag = 0;
	return MPI_SUCCESS;
}

int zcompletion_look(MPI_Request *request, int *flag, MPI_Status *status)
{
	return zreq_is_ours(*request) ? look_ours(zreq_find(*request), request, flag, status)
				      : zerror_test_native(request, flag, status);
}

static int test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (!zreq_is_ours(*request))
		return zn.Test(request, flag, status);
	struct zreq *r = zreq_find(*request);
	if (__builtin_expect(!r || !flag || zstatus_is_missing(status), 0))
		return wrong_argument(!r ? NULL : flag ? "status" : "flag", "MPI_Test");
	*flag = 0;
	if (zcompletion_is_inactive(r))
		return look_ours(r, request, flag, status);
	if (!zreq_is_done(
		    r)) /* asked once: a second look might find it done, and its error would have to be raised, too */
		return MPI_SUCCESS;
	*flag = 1;
	return zcompletion_finish(r, request, status, MPI_COMM_NULL, "MPI_Test");
}

int zip_Wait(MPI_Request *request, MPI_Status *status)
{
	static const char name[] = "MPI_Wait";

	if (__builtin_expect(!request, 0))
		return wrong_argument("request", name);
	return zreq_is_ours(*request) ? zcompletion_wait(request, status, MPI_COMM_NULL, name)
				      : wait_native_on(request, status, MPI_COMM_NULL, name);
}

int zip_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (__builtin_expect(!request, 0))
		return wrong_argument("request", "MPI_Test");
	int rc = test(request, flag, status);

	if (rc != MPI_SUCCESS || *flag) {
		zprogress_now_and_then();
		return rc;
	}
	if (!zprogress_test_failed(!zreq_is_ours(*request)))
		return rc;
	return test(request, flag, status);
}

int zip_Request_free(MPI_Request *request)
{
	if (!zreq_is_ours(*request))
		return zn.Request_free(request);
	struct zreq *r = zreq_find(*request);
	if (!r)
		return wrong_argument(NULL, "MPI_Request_free");
	if (r->ops->collective)
		return zerror_raise(r->comm, MPI_ERR_REQUEST, "MPI_Request_free",
			"a nonblocking collective must be waited for");
	*request = MPI_REQUEST_NULL;
	if (zcompletion_is_inactive(r) || r->done) {
		zreq_release(r);
		return MPI_SUCCESS;
	}
	r->orphan = true;
	const int was = zstation_visit(r->station);
	if (r->ops == &zop_start_recv_ops) {
		if (((struct zop *)r)->native != MPI_REQUEST_NULL)
			zanysource_orphan((struct zop *)r);
	} else if (r->ops->progress) {
		zreq_look_after(r);
	}
	zstation_return(was);
	return MPI_SUCCESS;
}

int zip_Cancel(MPI_Request *request)
{
	if (!zreq_is_ours(*request))
		return zn.Cancel(request);
	struct zreq *r = zreq_find(*request);
	if (!r)
		return wrong_argument(NULL, "MPI_Cancel");
	/* Sends are on their way: they complete normally, which MPI allows. */
	if (r->ops->cancel && !r->done)
		return zreq_cancel(r);
	return MPI_SUCCESS;
}
