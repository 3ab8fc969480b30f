/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Waitall, MPI_Testany and the like, for arrays that may mix native requests and ours. */
#include "libzip/p2p/completion.h"

#include "libzip/bridge/bridge.h"
#include "libzip/p2p/mix.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/world/status.h"

bool zcompletions_testall_fails;

/* The first failure of one of our requests. All bytes 0: none. */
struct failure {
	int error;
	bool raised; /* a handler has had it */
	MPI_Comm on; /* where to raise it */
};

/* Delivers one of our requests, which is done, or inactive (empty status). */
static void deliver(struct zmix *m, int i, MPI_Status *status, struct failure *first)
{
	struct zreq *r = zmix_ours(m, i);

	if (zcompletion_is_inactive(r)) {
		if (status != MPI_STATUS_IGNORE)
			zstatus_empty(status);
		return;
	}
	const bool raised = r->raised;
	const MPI_Comm on = zcompletion_raised_on(r);
	int rc = zcompletion_deliver(r, &m->all[i], status);
	if (status != MPI_STATUS_IGNORE)
		status->MPI_ERROR = rc;
	if (first->error == MPI_SUCCESS)
		*first = (struct failure){.error = rc, .raised = raised || zcompletion_is_raised(rc), .on = on};
}

/* After deliveries: the return value of the MPI function. Calls the error handler unless that was done. */
static int outcome(const struct failure *first, int native_rc, const char *name)
{
	if (first->error == MPI_SUCCESS)
		return native_rc;
	if (first->raised)
		return MPI_ERR_IN_STATUS;
	return zerror_raise_native(first->on, MPI_ERR_IN_STATUS, name, "an operation failed: see its status");
}

/* Where MPI_Testall fails for some kinds of requests, MPI_Waitall does not, and raises the request's error. */
static int test_all_looking(struct zmix *m, int *flag, MPI_Status *statuses)
{
	*flag = 1;
	zhandlers_hush_home();
	for (int i = 0; i < m->n && *flag; i++)
		if (m->native[i] != MPI_REQUEST_NULL)
			zn.Request_get_status(m->native[i], flag, MPI_STATUS_IGNORE);
	zhandlers_unhush_home();
	return *flag ? zn.Waitall(m->n, m->native, statuses) : MPI_SUCCESS;
}

static int test_all_native(struct zmix *m, int *flag, MPI_Status *statuses)
{
	return zcompletions_testall_fails ? test_all_looking(m, flag, statuses)
					  : zn.Testall(m->n, m->native, flag, statuses);
}

static void wait_for(const struct zmix *m, bool (*done)(void *ctx), void *ctx)
{
	if (zprogress_waited && zmix_waits_native(m))
		zprogress_wait_native(done, ctx);
	else
		zprogress_wait(done, ctx);
}

/* MPI_Waitall: are all complete? A test that finds the native ones complete delivers them. */
struct all_wait {
	struct zmix *m;
	MPI_Status *statuses;
	int next; /* all our requests before this index are done */
	bool native_done;
	int native_rc;
};

static bool all_done(void *ctx)
{
	struct all_wait *w = ctx;
	int flag = 0;

	for (; w->m->native != w->m->all && w->next < w->m->n; w->next++) {
		struct zreq *r = zmix_active(w->m, w->next);
		if (r && !zreq_is_done(r))
			break;
	}
	bool ours_done = w->m->native == w->m->all || w->next == w->m->n;
	if (!w->native_done) {
		w->native_rc = test_all_native(w->m, &flag, w->statuses);
		w->native_done = flag || w->native_rc != MPI_SUCCESS;
	}
	return ours_done && w->native_done;
}

static int deliver_all(struct zmix *m, const struct all_wait *w, const char *name)
{
	struct failure first = {0};

	for (int i = 0; m->native != m->all && i < m->n; i++) {
		MPI_Status *status = zmix_nth(w->statuses, i);
		if (zmix_ours(m, i)) {
			deliver(m, i, status, &first);
			continue;
		}
		zmix_store(m, i);
		if (status == MPI_STATUS_IGNORE)
			continue;
		if (!m->any_native)
			zstatus_empty(status); /* native MPI has not seen the array */
		else if (w->native_rc == MPI_SUCCESS)
			status->MPI_ERROR = MPI_SUCCESS; /* must be valid if one of our requests has failed */
	}
	return outcome(&first, w->native_rc, name);
}

int zip_Waitall(int n, MPI_Request requests[], MPI_Status statuses[])
{
	struct zmix m;
	int rc = zmix_open(&m, n, requests, "MPI_Waitall", zmix_missing_statuses(n, statuses));

	if (rc != MPI_SUCCESS)
		return rc;
	struct all_wait w = {.m = &m, .statuses = statuses, .native_done = !m.any_native};
	if (all_done(&w))
		zprogress_now_and_then();
	else
		wait_for(&m, all_done, &w);
	rc = deliver_all(&m, &w, "MPI_Waitall");
	zmix_close(&m);
	return rc;
}

int zip_Testall(int n, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
	struct zmix m;
	int rc = zmix_open(&m, n, requests, "MPI_Testall", flag ? zmix_missing_statuses(n, statuses) : "flag");

	if (rc != MPI_SUCCESS)
		return rc;
	struct all_wait w = {.m = &m, .statuses = statuses, .native_done = !m.any_native};
	for (int turn = 0; turn < 2; turn++) {
		*flag = zmix_are_ours_ready(&m) && all_done(&w);
		if (*flag || turn > 0 || !zprogress_test_failed(m.native == m.all))
			break;
	}
	if (*flag) {
		zprogress_now_and_then();
		rc = deliver_all(&m, &w, "MPI_Testall");
	}
	zmix_close(&m);
	return rc;
}

/* MPI_Waitany: is one complete? */
struct any_wait {
	struct zmix *m;
	MPI_Status *status;
	int index; /* of the complete one; MPI_UNDEFINED: none is active */
	int rc;
	bool raise;			   /* rc is an error of one of our requests, not raised yet */
	MPI_Comm on;			   /* where to raise it */
	char text[ZCOMPLETION_TEXT_BYTES]; /* text of that error */
};

static void take_any(struct any_wait *w, struct zreq *r)
{
	zcompletion_describe(r, w->text);
	w->raise = !r->raised;
	w->on = zcompletion_raised_on(r);
	w->rc = zcompletion_deliver(r, &w->m->all[w->index], w->status);
}

static bool any_done(void *ctx)
{
	struct any_wait *w = ctx;
	struct zmix *m = w->m;
	bool active = false;
	int flag = 0;

	for (int i = 0; m->native != m->all && i < m->n; i++) {
		struct zreq *r = zmix_active(m, i);
		if (!r)
			continue;
		active = true;
		if (zreq_is_done(r)) {
			w->index = i;
			take_any(w, r);
			return true;
		}
	}
	if (m->any_native) {
		w->rc = zn.Testany(m->n, m->native, &w->index, &flag, w->status);
		if ((flag && w->index != MPI_UNDEFINED) || w->rc != MPI_SUCCESS) {
			if (w->index >= 0 && w->index < m->n)
				zmix_store(m, w->index);
			return true;
		}
		active |= !flag;
	}
	w->index = MPI_UNDEFINED;
	if (!active && w->status != MPI_STATUS_IGNORE)
		zstatus_empty(w->status);
	return !active;
}

static int finish_any(struct any_wait *w, const char *name)
{
	int rc = w->raise ? zcompletion_raise(w->on, w->rc, name, w->text) : w->rc;

	zmix_close(w->m);
	return rc;
}

int zip_Waitany(int n, MPI_Request requests[], int *index, MPI_Status *status)
{
	struct zmix m;
	int rc = zmix_open(&m, n, requests, "MPI_Waitany",
		!index			     ? "indx"
		: zstatus_is_missing(status) ? "status"
					     : NULL);

	if (rc != MPI_SUCCESS)
		return rc;
	struct any_wait w = {.m = &m, .status = status, .index = MPI_UNDEFINED};
	if (any_done(&w))
		zprogress_now_and_then();
	else
		wait_for(&m, any_done, &w);
	*index = w.index;
	return finish_any(&w, "MPI_Waitany");
}

int zip_Testany(int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
	struct zmix m;
	int rc = zmix_open(&m, n, requests, "MPI_Testany",
		!index			     ? "indx"
		: !flag			     ? "flag"
		: zstatus_is_missing(status) ? "status"
					     : NULL);

	if (rc != MPI_SUCCESS)
		return rc;
	struct any_wait w = {.m = &m, .status = status, .index = MPI_UNDEFINED};
	*flag = any_done(&w);
	if (*flag)
		zprogress_now_and_then();
	else if (zprogress_test_failed(m.native == m.all))
		*flag = any_done(&w);
	*index = w.index;
	return finish_any(&w, "MPI_Testany");
}

/* MPI_Waitsome: are some complete? */
struct some_wait {
	struct zmix *m;
	int *indices;
	MPI_Status *statuses;
	int count; /* MPI_UNDEFINED: none is active */
	int native_rc;
	struct failure first;
};

static bool some_done(void *ctx)
{
	struct some_wait *w = ctx;
	struct zmix *m = w->m;
	bool active = false;
	int count = 0;

	if (m->any_native) {
		w->native_rc = zn.Testsome(m->n, m->native, &count, w->indices, w->statuses);
		if (count == MPI_UNDEFINED)
			count = 0;
		else
			active = true;
		for (int i = 0; i < count; i++) {
			zmix_store(m, w->indices[i]);
			/* must be valid if one of our requests has failed */
			if (m->native != m->all && w->native_rc == MPI_SUCCESS && w->statuses != MPI_STATUSES_IGNORE)
				w->statuses[i].MPI_ERROR = MPI_SUCCESS;
		}
	}
	for (int i = 0; m->native != m->all && i < m->n; i++) {
		struct zreq *r = zmix_active(m, i);
		if (!r)
			continue;
		active = true;
		if (!zreq_is_done(r))
			continue;
		w->indices[count] = i;
		deliver(m, i, zmix_nth(w->statuses, count), &w->first);
		count++;
	}
	w->count = active ? count : MPI_UNDEFINED;
	return !active || count > 0 || w->native_rc != MPI_SUCCESS;
}

int zip_Waitsome(int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[])
{
	struct zmix m;
	int rc = zmix_open(&m, n, requests, "MPI_Waitsome", zmix_missing_some(n, count, indices, statuses));

	if (rc != MPI_SUCCESS)
		return rc;
	struct some_wait w = {.m = &m, .indices = indices, .statuses = statuses};
	if (some_done(&w))
		zprogress_now_and_then();
	else
		wait_for(&m, some_done, &w);
	*count = w.count;
	zmix_close(&m);
	return outcome(&w.first, w.native_rc, "MPI_Waitsome");
}

int zip_Testsome(int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[])
{
	struct zmix m;
	int rc = zmix_open(&m, n, requests, "MPI_Testsome", zmix_missing_some(n, count, indices, statuses));

	if (rc != MPI_SUCCESS)
		return rc;
	struct some_wait w = {.m = &m, .indices = indices, .statuses = statuses};
	if (some_done(&w))
		zprogress_now_and_then();
	else if (zprogress_test_failed(m.native == m.all))
		some_done(&w);
	*count = w.count;
	zmix_close(&m);
	return outcome(&w.first, w.native_rc, "MPI_Testsome");
}
