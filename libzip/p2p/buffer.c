/* SPDX-License-Identifier: BSD-3-Clause */
/* Attached buffers. See buffer.h. */
#include "libzip/p2p/buffer.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "libzip/abi/abi.h"
#include "libzip/progress/progress.h"
#include "libzip/world/attached.h"
#include "libzip/type/data.h"
#include "libzip/bridge/bridge.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"
#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/status.h"

_Atomic bool zbuffer_used;

static struct { /* for messages of this rank to itself */
	MPI_Comm comm;
	int tag;
} own = {.comm = MPI_COMM_NULL};

void zbuffer_init(MPI_Comm comm, int tag)
{
	own.comm = comm;
	own.tag = tag;
}

/* MPICH 4.0.2 counts the bytes of a buffered message in an int, so a message of 2 GiB never fits. */
#define PIECE_MAX ((MPI_Count)1 << 30)

struct filling {
	void *bytes; /* of one message */
	int me;
};

/* Native MPI does not tell before MPICH 4.2 whether its buffer is empty, and detaching blocks until it is, without a
 * turn of the bridge. But messages that fill the whole buffer fit only when nothing else is in it. So this rank sends
 * such messages to itself. That writes to all of the buffer. */
static bool fits(void *ctx)
{
	const struct filling *f = ctx;
	MPI_Count left = zattached_process.bytes;
	int sent = 0;
	bool all = true;

	for (; all && left >= MPI_BSEND_OVERHEAD; sent += all) {
		MPI_Count piece = left < PIECE_MAX ? left : PIECE_MAX;
		all = zn.Bsend_c(f->bytes, piece - MPI_BSEND_OVERHEAD, MPI_BYTE, f->me, own.tag, own.comm) ==
		      MPI_SUCCESS;
		left -= piece;
	}
	/* received without their bytes */
	for (; sent > 0; sent--)
		zn.Recv(NULL, 0, MPI_BYTE, f->me, own.tag, own.comm, MPI_STATUS_IGNORE);
	return all;
}

static void wait_filling(void)
{
	struct filling f = {.bytes = NULL};

	if (!zbuffer_used || zattached_process.bytes < MPI_BSEND_OVERHEAD)
		return;
	/* never written, so a large one takes no memory */
	f.bytes = calloc(1, (size_t)(zattached_process.bytes < PIECE_MAX ? zattached_process.bytes : PIECE_MAX));
	if (!f.bytes)
		return;
	zn.Comm_rank(own.comm, &f.me);
	zprogress_wait_native(fits, &f);
	free(f.bytes);
}

static void *detach_natively(void *emptied)
{
	void *buffer;
	int bytes;

	if (zn.Buffer_detach(&buffer, &bytes) == MPI_SUCCESS)
		zn.Buffer_attach(buffer, bytes);
	atomic_store((atomic_bool *)emptied, true);
	return NULL;
}

static bool is_set(void *flag)
{
	return atomic_load((atomic_bool *)flag);
}

/* Another thread waits in native MPI, and attaches the buffer again. With one thread native MPI waits later, without a
 * turn of the bridge. */
static void wait_in_thread(void)
{
	atomic_bool emptied = false;
	pthread_t thread;
	sigset_t all, before;
	int level;

	if (!zbuffer_used || zattached_process.bytes == 0 || zn.Query_thread(&level) != MPI_SUCCESS ||
		level != MPI_THREAD_MULTIPLE)
		return;
	sigfillset(&all); /* signals are for the application's threads */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&thread, NULL, detach_natively, &emptied);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		return;
	zprogress_wait(is_set, &emptied);
	pthread_join(thread, NULL);
}

static bool can_flush(void)
{
	return zrunning_version() >= ZVERSION(4, 2, 0);
}

/* The buffer of a communicator, of a session, or of the process. */
struct buffer {
	enum { OF_PROCESS, OF_COMM, OF_SESSION } kind;
	MPI_Comm comm;
	MPI_Session session;
	struct zattached *bridged; /* NULL: no bridged message is in it */
};

static struct buffer of_process(void)
{
	return (struct buffer){.kind = OF_PROCESS, .bridged = &zattached_process};
}

static struct buffer of_comm(MPI_Comm comm)
{
	const struct zcomm *c = zcomm_find(comm);

	return (struct buffer){.kind = OF_COMM, .comm = c ? c->shadow : comm, .bridged = c ? c->attached : NULL};
}

static struct buffer of_session(MPI_Session session)
{
	return (struct buffer){.kind = OF_SESSION, .session = session, .bridged = zattached_of_session(session, false)};
}

static int native_iflush(struct buffer b, MPI_Request *request)
{
	if (b.kind == OF_COMM)
		return zn.Comm_iflush_buffer(b.comm, request);
	return b.kind == OF_SESSION ? zn.Session_iflush_buffer(b.session, request) : zn.Buffer_iflush(request);
}

static bool native_is_done(void *ctx)
{
	int flag = 0, rc = zn.Test(ctx, &flag, MPI_STATUS_IGNORE);

	return flag || rc != MPI_SUCCESS;
}

static bool is_free(void *ctx)
{
	const struct zattached *a = ctx;

	return a->in_use == 0;
}

/* Waits until no message is in the buffer. */
static int flush(struct buffer b)
{
	MPI_Request request;

	if (b.bridged)
		zprogress_wait(is_free, b.bridged);
	if (!can_flush()) {
		if (ZABI_BSEND_MAY_FAIL)
			wait_filling();
		else
			wait_in_thread();
		return MPI_SUCCESS;
	}
	int rc = native_iflush(b, &request);
	if (rc == MPI_SUCCESS)
		zprogress_wait_native(native_is_done, &request);
	return rc;
}

/* --- the request of an iflush --- */

struct flushing {
	struct zreq req;
	const struct zattached *bridged;
	MPI_Request native;
};

static bool progress(struct zreq *r)
{
	struct flushing *f = (struct flushing *)(void *)r;

	if (r->done)
		return true;
	if (f->bridged->in_use > 0 || !native_is_done(&f->native))
		return false;
	zstatus_empty(&r->status);
	zprogress_natives--;
	zreq_complete(r);
	return true;
}

static const struct zreq_ops flush_ops = {.name = "flush of a buffer", .progress = progress};

/* c: of a spanning communicator's buffer, else NULL. */
static int iflush(struct zcomm *c, struct buffer b, const char *name, MPI_Request *request)
{
	struct flushing *f = (struct flushing *)(void *)zreq_create(&flush_ops, sizeof(*f), c);
	int rc;

	if (!f)
		return zerror_raise(c, MPI_ERR_NO_MEM, name, "a request");
	f->bridged = b.bridged;
	rc = native_iflush(b, &f->native);
	if (rc != MPI_SUCCESS) {
		zreq_release(&f->req);
		return rc;
	}
	rc = zreq_publish(&f->req, request);
	if (rc == MPI_SUCCESS) {
		zprogress_natives++;
		return rc;
	}
	zprogress_wait_native(native_is_done, &f->native);
	zreq_release(&f->req);
	return zerror_raise(c, rc, name, "a request");
}

/* --- the buffer of the process --- */

static MPI_Count size_of(const void *buffer, MPI_Count size)
{
	return can_flush() && buffer == MPI_BUFFER_AUTOMATIC ? ZATTACHED_AUTOMATIC : size;
}

int zbuffer_attach(int rc, const void *buffer, MPI_Count size)
{
	if (rc == MPI_SUCCESS)
		zattached_process.bytes = size_of(buffer, size);
	return rc;
}

void zbuffer_empty(void)
{
	flush(of_process());
	zattached_process.bytes = 0;
}

int zip_Buffer_flush(void)
{
	return flush(of_process());
}

int zip_Buffer_iflush(MPI_Request *request)
{
	return iflush(NULL, of_process(), "MPI_Buffer_iflush", request);
}

/* --- buffers of communicators --- */

int zbuffer_attach_comm(const char *name, MPI_Comm comm, void *buffer, MPI_Count size)
{
	struct zcomm *c = zcomm_find(comm);
	int rc;

	if (!c)
		return zn.Comm_attach_buffer_c(comm, buffer, size);
	/* It stays until the communicator ends: requests of flushes look at it. */
	if (!c->attached)
		c->attached = calloc(1, sizeof(*c->attached));
	if (!c->attached)
		return zerror_raise(c, MPI_ERR_NO_MEM, name, "the buffer's account");
	rc = zn.Comm_attach_buffer_c(c->shadow, buffer, size);
	if (rc == MPI_SUCCESS)
		c->attached->bytes = size_of(buffer, size);
	return rc;
}

MPI_Comm zbuffer_empty_comm(MPI_Comm comm)
{
	const struct zcomm *c = zcomm_find(comm);

	if (!c)
		return comm;
	if (c->attached) {
		flush(of_comm(comm));
		c->attached->bytes = 0;
	}
	return c->shadow;
}

int zip_Comm_flush_buffer(MPI_Comm comm)
{
	return flush(of_comm(comm));
}

int zip_Comm_iflush_buffer(MPI_Comm comm, MPI_Request *request)
{
	struct zcomm *c = zcomm_find(comm);

	return c && c->attached ? iflush(c, of_comm(comm), "MPI_Comm_iflush_buffer", request)
				: zn.Comm_iflush_buffer(c ? c->shadow : comm, request);
}

/* --- buffers of sessions --- */

int zbuffer_attach_session(int rc, MPI_Session session, const void *buffer, MPI_Count size)
{
	if (rc != MPI_SUCCESS)
		return rc;
	struct zattached *a = zattached_of_session(session, true);
	if (!a)
		return zerror_raise(NULL, MPI_ERR_NO_MEM, "MPI_Session_attach_buffer", "the buffer's account");
	a->bytes = size_of(buffer, size);
	return rc;
}

void zbuffer_empty_session(MPI_Session session)
{
	const struct buffer b = of_session(session);

	if (b.bridged) {
		flush(b);
		b.bridged->bytes = 0;
	}
}

/* The native call tells that there is no such function, where there is none. */
int zip_Session_flush_buffer(MPI_Session session)
{
	return can_flush() ? flush(of_session(session)) : zn.Session_flush_buffer(session);
}

int zip_Session_iflush_buffer(MPI_Session session, MPI_Request *request)
{
	const struct buffer b = of_session(session);

	return b.bridged ? iflush(NULL, b, "MPI_Session_iflush_buffer", request)
			 : zn.Session_iflush_buffer(session, request);
}
