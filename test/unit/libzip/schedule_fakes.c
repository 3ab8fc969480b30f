/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine and what is around it in the tests, see schedule_fakes.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* alone, over fakes of everything that it calls */
#include "libzip/schedule/engine.c"
#include "libzip/schedule/sched.c"
#include "libzip/schedule/step.c"
#include "libzip/schedule/step_run.c"
#include "libzip/coll/across/flight.c"

#include "test/unit/libzip/schedule_fakes.h"

struct fakes fakes = {.handler = MPI_ERRORS_RETURN};
__thread const struct zsmall_keeper *zsmall_keeper;

void fakes_note(const char *what)
{
	strncat(fakes.trace, what, sizeof fakes.trace - strlen(fakes.trace) - 1);
}

static int add_message(char kind, struct zcomm *c, enum zcomm_context context, MPI_Count count, int peer, int tag,
	struct zreq **out)
{
	struct fake_message *m = &fakes.messages[++fakes.nmessages];
	(void)c;
	memset(m, 0, sizeof *m);
	m->kind = kind;
	m->peer = peer;
	m->tag = tag;
	m->context = context;
	m->count = count;
	m->req.handle = MPI_REQUEST_NULL;
	*out = &m->req;
	fakes_note((char[]){kind, 0});
	return MPI_SUCCESS;
}

int zbridge_isend(struct zcomm *c, enum zcomm_context context, const void *buf, MPI_Count count, MPI_Datatype type,
	int dest, int tag, enum zsend_mode mode, struct zreq **out)
{
	(void)buf, (void)type, (void)mode;
	return add_message('s', c, context, count, dest, tag, out);
}

int zbridge_irecv(struct zcomm *c, enum zcomm_context context, void *buf, MPI_Count count, MPI_Datatype type,
	int source, int tag, struct zreq **out)
{
	(void)buf, (void)type;
	return add_message('r', c, context, count, source, tag, out);
}

int zmulticast_start(struct zcomm *c, enum zcomm_context context, const void *buf, MPI_Count count, MPI_Datatype type,
	const int *dest, int n, int tag, int64_t patience_ms, struct zreq **out)
{
	(void)buf, (void)type, (void)n, (void)patience_ms;
	return add_message('m', c, context, count, dest[n - 1], tag, out);
}

MPI_Count zbridge_arrived(const struct zreq *r)
{
	return ((const struct fake_message *)(const void *)r)->arrived;
}

void fakes_complete(int n, MPI_Count bytes, int error)
{
	fakes.messages[n].arrived = bytes;
	fakes.messages[n].req.status.MPI_ERROR = error;
	fakes.messages[n].req.status.count_lo = (int)bytes;
	fakes.messages[n].req.done = true;
}

struct zreq *zreq_create(const struct zreq_ops *ops, size_t bytes, struct zcomm *c)
{
	struct zreq *r = calloc(1, bytes);
	r->ops = ops;
	r->comm = c;
	r->handle = MPI_REQUEST_NULL;
	return r;
}

void zreq_release(struct zreq *r)
{
	if ((char *)r >= (char *)fakes.messages && (char *)r < (char *)(fakes.messages + FAKES_MAX)) {
		fakes.released++;
		return;
	}
	r->ops->destroy(r);
	free(r);
}

void zreq_complete(struct zreq *r)
{
	r->done = true;
}

void zstatus_empty(MPI_Status *s)
{
	memset(s, 0, sizeof *s);
}

void zprogress_set_collectives(bool (*turn)(void))
{
	assert_ptr_equal(turn, zengine_progress);
}

void zprogress_wait_request(struct zreq *r)
{
	while (!r->done)
		zengine_progress();
}

const struct ztype *ztype_find(MPI_Datatype t)
{
	static struct ztype byte = {.size = 1, .builtin = true};
	(void)t;
	return &byte;
}

int ztypehold_take(MPI_Datatype t)
{
	(void)t;
	return MPI_SUCCESS;
}

void ztypehold_release(MPI_Datatype t)
{
	(void)t;
}

void ztypehold_drop(MPI_Datatype t)
{
	(void)t;
}

int zredop_hold(MPI_Op op)
{
	(void)op;
	return MPI_SUCCESS;
}

void zredop_release(MPI_Op op)
{
	(void)op;
}

void *zpool_get(size_t bytes)
{
	return malloc(bytes);
}

void zpool_put(void *p)
{
	free(p);
}

int zerror_raise(const struct zcomm *c, int class, const char *function, const char *fmt, ...)
{
	(void)c, (void)function, (void)fmt;
	fakes.raised = class;
	return class;
}

int zerror_raise_own(MPI_Comm comm, int code)
{
	(void)comm;
	fakes.raised = code;
	return code;
}

void zerror_raise_if_fatal(const struct zcomm *c, int class, const char *function, const char *text)
{
	(void)c, (void)function, (void)text;
	fakes.fatal = class;
}

bool zhandlers_differ;

void zhandlers_hush_home(void)
{
}

void zhandlers_unhush_home(void)
{
}

bool zhandlers_is_predefined(MPI_Errhandler e)
{
	return e == MPI_ERRORS_RETURN;
}

static int fake_get_handler(MPI_Comm c, MPI_Errhandler *e)
{
	(void)c;
	*e = fakes.handler;
	fakes.handlers_held += fakes.handler == FAKES_HANDLER;
	return MPI_SUCCESS;
}

static int fake_set_handler(MPI_Comm c, MPI_Errhandler e)
{
	(void)c;
	fakes.handler = e;
	return MPI_SUCCESS;
}

static int fake_free_handler(MPI_Errhandler *e)
{
	assert_true(*e == FAKES_HANDLER);
	fakes.handlers_held--;
	return MPI_SUCCESS;
}

__thread int zshim_depth __attribute__((tls_model("initial-exec")));
__thread uint64_t zshim_entered __attribute__((tls_model("initial-exec")));
bool zshim_threaded;

static int fake_test(MPI_Request *r, int *flag, MPI_Status *s)
{
	(void)s;
	*flag = fakes.native_done[(int)*r];
	if (*flag)
		*r = MPI_REQUEST_NULL;
	return MPI_SUCCESS;
}

static int fake_elements(const MPI_Status *s, MPI_Datatype t, MPI_Count *n)
{
	(void)t;
	*n = s->count_lo;
	return MPI_SUCCESS;
}

static int fake_class(int code, int *class)
{
	*class = code;
	return MPI_SUCCESS;
}

static int fake_string(int code, char *text, int *len)
{
	*len = sprintf(text, "error %d", code);
	return MPI_SUCCESS;
}

struct znative zn;

int fakes_setup(void **state)
{
	(void)state;
	zn.Test = fake_test;
	zn.Get_elements_x = fake_elements;
	zn.Error_class = fake_class;
	zn.Error_string = fake_string;
	zn.Comm_get_errhandler = fake_get_handler;
	zn.Comm_set_errhandler = fake_set_handler;
	zn.Errhandler_free = fake_free_handler;
	memset(&fakes.comm, 0, sizeof fakes.comm);
	memset(&fakes.other, 0, sizeof fakes.other);
	fakes.comm.coll_seq = fakes.other.coll_seq = 7;
	fakes.nmessages = fakes.nnatives = fakes.released = fakes.calls = fakes.raised = fakes.fatal = 0;
	memset(fakes.native_done, 0, sizeof fakes.native_done);
	fakes.trace[0] = 0;
	return 0;
}

int fakes_begin_native(void *arg, MPI_Request *r)
{
	(void)arg;
	*r = (MPI_Request)++fakes.nnatives;
	fakes_note("n");
	return MPI_SUCCESS;
}

int fakes_fail_native(void *arg, MPI_Request *r)
{
	(void)arg, (void)r;
	fakes_note("f");
	fakes.handled += fakes.handler == FAKES_HANDLER;
	return MPI_ERR_OP;
}

int fakes_work(struct zsched *s, void *arg)
{
	(void)s;
	fakes_note(arg ? arg : "c");
	fakes.calls++;
	return MPI_SUCCESS;
}
