/* SPDX-License-Identifier: BSD-3-Clause */
/* How the steps of a schedule begin and end, and how their errors become the schedule's. */
#include "libzip/schedule/step_run.h"

#include "libzip/bridge/bridge.h"
#include "libzip/bridge/multicast.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/small.h"
#include "libzip/type/data.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"

/* Takes over an error code of native MPI or of a request, with its text. raised: the native library has already called
 * the error handler. */
static void fail_with_code(struct zsched *s, int code, bool raised)
{
	int class = MPI_ERR_OTHER, len = 0;
	if (s->error != MPI_SUCCESS)
		return;
	zn.Error_class(code, &class);
	s->error = class;
	if (raised) {
		s->code = code;
		return;
	}
	s->code_text = zsched_alloc(s, MPI_MAX_ERROR_STRING);
	if (s->code_text && zn.Error_string(code, s->code_text, &len) != MPI_SUCCESS)
		s->code_text = NULL;
}

/* Checks a message from that rank against the expected bytes; expected < 0: any number will do. Returns how many bytes
 * came. */
static MPI_Count check_message(struct zsched *s, const MPI_Status *status, int error, int rank, MPI_Count expected)
{
	MPI_Count got = 0;
	int class = MPI_SUCCESS;
	if (error != MPI_SUCCESS) {
		zn.Error_class(error, &class);
		if (class == MPI_ERR_TRUNCATE && expected >= 0)
			zsched_fail_text(s, class,
				"members gave different amounts of data: more than %lld bytes came from rank %d",
				(long long)expected, rank);
		else
			fail_with_code(s, error, false);
		return 0;
	}
	zn.Get_elements_x(status, MPI_BYTE, &got);
	if (expected >= 0 && got != expected)
		zsched_fail_amount(s, rank, got, expected);
	return got;
}

static MPI_Count finish_message(struct zsched *s, struct zreq *r, MPI_Count expected)
{
	MPI_Count got = check_message(s, &r->status, r->status.MPI_ERROR, r->status.MPI_SOURCE, expected);
	zreq_release(r);
	return got;
}

static void step_finish_message(struct zsched *s, struct zstep *t)
{
	struct zreq *r = t->req;
	t->done = true;
	t->req = NULL;
	if (t->kind == STEP_SEND || t->kind == STEP_MULTICAST) {
		if (r->status.MPI_ERROR != MPI_SUCCESS)
			fail_with_code(s, r->status.MPI_ERROR, false);
		zreq_release(r);
	} else if (t->upto) {
		*t->u.got = finish_message(s, r, -1);
	} else {
		finish_message(s, r, ztype_find(t->type)->size * t->count);
	}
}

static void start_arriving(struct zsched *s, struct zstep *t)
{
	struct zarriving *a = t->buf;
	int rc = zbridge_irecv(t->across ? s->far : s->comm, s->context, a->buf, a->bytes, MPI_BYTE, t->partner, s->tag,
		&a->req);
	t->done = true;
	if (rc != MPI_SUCCESS) {
		zsched_fail(s, rc, "a message of the collective could not be started");
		a->complete = true;
	}
}

static bool has_arrived(struct zsched *s, struct zarriving *a, MPI_Count bytes)
{
	if (a->complete)
		return true;
	if (!a->req->done)
		return bytes < a->bytes && zbridge_arrived(a->req) >= bytes;
	finish_message(s, a->req, a->bytes);
	a->complete = true;
	return true;
}

/* Tags of native messages: MPI guarantees 15 bits. That is enough, as collectives run one after the other and messages
 * do not overtake each other. */
#define NEAR_TAG 0x7fff

/* A native message to or from a rank of the remote group in my part. */
static void start_near(struct zsched *s, struct zstep *t)
{
	int rank = zcomm_shadow_rank(s->far, t->partner), tag = s->tag & NEAR_TAG;
	int rc = t->kind == STEP_SEND ? zn.Isend_c(t->buf, t->count, t->type, rank, tag, s->far->near, &t->native)
				      : zn.Irecv_c(t->buf, t->count, t->type, rank, tag, s->far->near, &t->native);
	if (rc != MPI_SUCCESS) {
		fail_with_code(s, rc, false);
		t->native = MPI_REQUEST_NULL;
	}
	t->done = t->native == MPI_REQUEST_NULL;
}

static void start_message(struct zsched *s, struct zstep *t)
{
	struct zcomm *c = t->across ? s->far : s->comm;
	if (t->across && t->kind != STEP_MULTICAST && zcomm_is_local_rank(c, t->partner)) {
		start_near(s, t);
		return;
	}
	int rc = t->kind == STEP_SEND ? zbridge_isend(c, s->context, t->buf, t->count, t->type, t->partner, s->tag,
						ZSEND_STANDARD, &t->req)
		 : t->kind == STEP_RECV
			 ? zbridge_irecv(c, s->context, t->buf, t->count, t->type, t->partner, s->tag, &t->req)
			 : zmulticast_start(c, s->context, t->buf, t->count, t->type, t->u.to->dest, t->u.to->n, s->tag,
				   t->u.to->patience_ms, &t->req);
	if (rc != MPI_SUCCESS) {
		zsched_fail(s, rc, "a message of the collective could not be started");
		t->req = NULL;
		t->done = true;
	} else if (t->req->done) {
		step_finish_message(s, t);
	}
}

/* Do native errors call the handler of the application's communicator? The communicators that only we use have silent
 * handlers. */
static bool native_raises(const struct zsched *s)
{
	return !s->far || s->comm->shadow == s->far->shadow;
}

/* Takes the application's handler away after the first error, so that only that error calls it: the steps behind it go
 * on all the same, and may fail for the same reason. */
static MPI_Errhandler silence(const struct zsched *s)
{
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
	if (__builtin_expect(s->error == MPI_SUCCESS, 1) || !native_raises(s) ||
		zn.Comm_get_errhandler(s->comm->shadow, &handler) != MPI_SUCCESS || zhandlers_is_predefined(handler))
		return MPI_ERRHANDLER_NULL;
	zn.Comm_set_errhandler(s->comm->shadow, MPI_ERRORS_RETURN);
	return handler;
}

static void end_silence(const struct zsched *s, MPI_Errhandler handler)
{
	if (__builtin_expect(handler == MPI_ERRHANDLER_NULL, 1))
		return;
	zn.Comm_set_errhandler(s->comm->shadow, handler);
	zn.Errhandler_free(&handler);
}

static void *keep_array(void *s, size_t bytes)
{
	return zsched_alloc(s, bytes);
}

static void start_native(struct zsched *s, struct zstep *t)
{
	const struct zsmall_keeper keeper = {keep_array, s};
	MPI_Errhandler handler = silence(s);
	zsmall_keeper = &keeper;
	int rc = t->u.start(t->buf, &t->native);
	zsmall_keeper = NULL;
	end_silence(s, handler);
	if (rc != MPI_SUCCESS) {
		fail_with_code(s, rc, native_raises(s));
		t->native = MPI_REQUEST_NULL;
	}
	t->done = t->native == MPI_REQUEST_NULL;
}

void zstep_run_begin(struct zsched *s, int i)
{
	struct zstep *t = &s->steps[i];
	switch ((enum step_kind)t->kind) {
	case STEP_SEND:
	case STEP_MULTICAST:
	case STEP_RECV:
		start_message(s, t);
		break;
	case STEP_ARRIVING:
		start_arriving(s, t);
		break;
	case STEP_AWAIT:
	case STEP_CLOSE:
		break;
	case STEP_NATIVE:
		start_native(s, t);
		break;
	case STEP_WATCH:
		zstep_run_is_done(s, t);
		break;
	case STEP_CALL: {
		t->done = true;
		s->across = t->across;
		int rc = t->u.fn(s, t->buf); /* may move the steps: t is not valid afterwards */
		if (rc != MPI_SUCCESS)
			zsched_fail(s, rc, rc == MPI_ERR_NO_MEM ? "out of memory" : NULL);
		break;
	}
	}
}

static bool test_native(struct zsched *s, struct zstep *t)
{
	MPI_Status status;
	MPI_Errhandler handler = silence(s);
	bool hushed = !ZABI_RAISES_ON_OWN && zhandlers_hush();
	/* MPI_Testany raises where the handler is hushed, MPI_Test on the communicator with some versions (handlers.h).
	 */
	int index,
		flag = 0,
		rc = hushed ? zn.Testany(1, &t->native, &index, &flag, &status) : zn.Test(&t->native, &flag, &status);
	zhandlers_unhush(hushed);
	end_silence(s, handler);
	if (rc == MPI_SUCCESS && !flag)
		return false;
	if (t->kind == STEP_RECV) {
		MPI_Count expected = t->upto ? -1 : ztype_find(t->type)->size * t->count;
		MPI_Count got = check_message(s, &status, rc, t->partner, expected);
		if (t->upto)
			*t->u.got = got;
	} else if (rc != MPI_SUCCESS) {
		fail_with_code(s, rc, !hushed && t->kind == STEP_NATIVE && native_raises(s));
	}
	return t->done = true;
}

bool zstep_run_is_done(struct zsched *s, struct zstep *t)
{
	if (t->done)
		return true;
	if (t->kind == STEP_CLOSE)
		return t->done = zstep_run_is_done(s, &s->steps[t->partner]);
	if (t->kind == STEP_AWAIT)
		return t->done = has_arrived(s, t->buf, t->count);
	if (t->kind == STEP_WATCH)
		return t->done = t->u.look(s, t->buf);
	if (t->native != MPI_REQUEST_NULL)
		return test_native(s, t);
	if (t->req->done)
		step_finish_message(s, t);
	return t->done;
}
