/* SPDX-License-Identifier: BSD-3-Clause */
/* A receive and a send behind one request. See exchange.h. */
#include "libzip/p2p/exchange.h"

#include <string.h>

#include "libzip/progress/progress.h"
#include "libzip/p2p/completion.h"
#include "libzip/p2p/early.h"
#include "libzip/type/data.h"
#include "libzip/world/error.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/shim.h"
#include "libzip/world/status.h"

struct exchange {
	struct zreq req;
	MPI_Request send, recv;
	MPI_Status status; /* of the receive, when it is complete */
	bool recv_done, from_nobody;
	int error;
	char text[ZCOMPLETION_TEXT_BYTES]; /* of the receive's error */
	void *copy;			   /* of the send buffer; from the pool, may be NULL */
};

static bool progress_exchange(struct zreq *r)
{
	struct exchange *x = (struct exchange *)r;
	int flag = 0, rc;

	if (!x->recv_done) {
		struct zreq *recv = zreq_is_ours(x->recv) ? zreq_find(x->recv) : NULL;
		const bool done = recv && zreq_is_done(recv); /* asked once: a moment later the answer may differ */
		if (done)
			zcompletion_describe(recv, x->text);
		rc = done || !recv ? zcompletion_look(&x->recv, &flag, &x->status) : MPI_SUCCESS;
		x->recv_done = flag || rc != MPI_SUCCESS;
		if (rc != MPI_SUCCESS)
			x->error = rc;
	}
	if (x->send != MPI_REQUEST_NULL) {
		rc = zcompletion_look(&x->send, &flag, MPI_STATUS_IGNORE);
		if (rc != MPI_SUCCESS) {
			x->error = rc;
			x->text[0] = '\0';
			x->send = MPI_REQUEST_NULL;
		}
	}
	if (!x->recv_done || x->send != MPI_REQUEST_NULL)
		return false;
	r->status = x->status;
	if (x->from_nobody) /* MPICH 4.0 does not say so in the status of a nonblocking receive */
		zstatus_set(&r->status, MPI_PROC_NULL, MPI_ANY_TAG, MPI_SUCCESS, 0, false);
	r->status.MPI_ERROR = x->error;
	zreq_complete(r);
	return true;
}

static bool is_native_half(MPI_Request half)
{
	const struct zreq *r = zreq_is_ours(half) ? zreq_find(half) : NULL;

	return !r || zreq_is_native(r);
}

static bool is_native_exchange(const struct zreq *r)
{
	const struct exchange *x = (const struct exchange *)r;

	return is_native_half(x->recv) && is_native_half(x->send);
}

static void destroy_exchange(struct zreq *r)
{
	zpool_put(((struct exchange *)r)->copy);
}

static const struct zreq_ops exchange_ops = {.name = "MPI_Isendrecv",
	.progress = progress_exchange,
	.is_native = is_native_exchange,
	.destroy = destroy_exchange};

/* Checks the half that is started second: with an error in it the first half must not start. */
static int check_second(const struct zexchange_args *p)
{
	if (!p->c)
		return MPI_SUCCESS;
	return p->mode == ZP2P_COPIED ? zp2p_check_recv(p->c, &p->recv) : zp2p_check_send(p->c, &p->send);
}

static int start_halves(const struct zexchange_args *p, struct exchange *x)
{
	/* A send that copies goes before the receive that overwrites its buffer. Else the receive is posted first, so
	 * that a send to oneself finds it. */
	if (p->mode == ZP2P_COPIED) {
		int rc = zp2p_isend(p->c, &p->send, p->mode, &x->send);
		return rc == MPI_SUCCESS ? zp2p_irecv(p->c, &p->recv, &x->recv) : rc;
	}
	int rc = zp2p_irecv(p->c, &p->recv, &x->recv);
	return rc == MPI_SUCCESS ? zp2p_isend(p->c, &p->send, p->mode, &x->send) : rc;
}

static int start_exchange(const struct zexchange_args *p, struct exchange **out)
{
	struct exchange *x = (struct exchange *)zreq_create(&exchange_ops, sizeof(*x), p->c);

	if (!x) {
		zpool_put(p->copy);
		return zerror_raise(p->c, MPI_ERR_NO_MEM, p->send.name, "out of memory");
	}
	x->req.active = true;
	x->req.local = p->c ? 0 : p->send.comm;
	x->copy = p->copy;
	x->from_nobody = p->recv.rank == MPI_PROC_NULL;
	x->recv = x->send = MPI_REQUEST_NULL;
	zstatus_empty(&x->status);
	int rc = check_second(p);
	if (rc == MPI_SUCCESS)
		rc = start_halves(p, x);
	if (rc != MPI_SUCCESS) {
		if (x->send != MPI_REQUEST_NULL)
			zip_Request_free(&x->send);
		if (x->recv != MPI_REQUEST_NULL) {
			zip_Cancel(&x->recv);
			zip_Request_free(&x->recv);
		}
		zreq_release(&x->req);
		return rc;
	}
	*out = x;
	return MPI_SUCCESS;
}

/* An argument that MPI fills is a null pointer. */
static int nowhere_to_write(const struct zexchange_args *p, const char *argument)
{
	return zerror_raise_native(p->send.comm, MPI_ERR_ARG, p->send.name, ZERROR_NULL, argument);
}

int zexchange_run(const struct zexchange_args *p, MPI_Status *status)
{
	struct exchange *x = NULL;
	int rc = zstatus_is_missing(status) ? nowhere_to_write(p, "status") : start_exchange(p, &x);
	MPI_Request unused;
	char text[ZCOMPLETION_TEXT_BYTES];

	if (rc != MPI_SUCCESS)
		return zearly_failed(rc, p->recv.comm, status);
	zprogress_wait_request(&x->req);
	memcpy(text, x->text, sizeof(text));
	return zcompletion_raise(p->send.comm, zcompletion_deliver(&x->req, &unused, status), p->send.name, text);
}

int zexchange_start(const struct zexchange_args *p, MPI_Request *request)
{
	struct exchange *x = NULL;
	int rc = request ? start_exchange(p, &x) : nowhere_to_write(p, "request");

	if (rc != MPI_SUCCESS)
		return rc;
	rc = zreq_publish(&x->req, request);
	return rc == MPI_SUCCESS ? rc : zerror_raise(p->c, rc, p->send.name, "out of memory");
}

/* Packs the data of the send. Native MPI checks the arguments. But it wrongly refuses MPI_BOTTOM, and packs some
 * datatypes in part only (data.c). In MPICH the packed size is the size of the data. */
static int pack(const struct zp2p_args *s, void *to, MPI_Count size)
{
	MPI_Count bytes = 0;
	int rc = MPI_SUCCESS;

	if (s->buf != MPI_BOTTOM || ztype_find(s->type)->builtin)
		rc = zn.Pack_c(s->buf, s->count, s->type, to, size, &bytes, s->comm);
	if (rc != MPI_SUCCESS || bytes == size)
		return rc;
	rc = zdata_pack_native(to, (uint64_t)size, s->buf, s->count, s->type);
	return rc == MPI_SUCCESS ? rc : zerror_raise(zcomm_find(s->comm), rc, s->name, "cannot pack the data");
}

/* Makes the send independent of its buffer. The bridge has a mode for that. Natively the bytes are packed and sent as
 * MPI_PACKED, which in MPICH is plain bytes and may be received as any type. Either way the exchange waits for its
 * send. That holds back a rank that sends faster than the other one receives. */
static int detach_send(struct zexchange_args *p)
{
	struct zp2p_args *s = &p->send;
	MPI_Count size = 0;
	int rc;

	if (p->c) {
		rc = zp2p_check_send(p->c, s);
		if (rc != MPI_SUCCESS)
			return rc;
		if (s->rank >= 0 && !zcomm_is_local_rank(p->c, s->rank)) {
			p->mode = ZP2P_COPIED;
			return MPI_SUCCESS;
		}
	}
	if (s->rank == MPI_PROC_NULL)
		return MPI_SUCCESS;
	if (!s->buf && ztype_check(s->type) == MPI_SUCCESS && ztype_is_nowhere(s->buf, s->count, s->type))
		return zerror_raise_native(s->comm, MPI_ERR_BUFFER, s->name, "the buffer is a null pointer");
	rc = zn.Pack_size_c(s->count, s->type, s->comm, &size);
	if (rc != MPI_SUCCESS)
		return rc;
	p->copy = zpool_get(size > 0 ? (size_t)size : 1);
	if (!p->copy)
		return zerror_raise(p->c, MPI_ERR_NO_MEM, s->name, "no memory for %lld bytes", (long long)size);
	rc = pack(s, p->copy, size);
	if (rc != MPI_SUCCESS) {
		zpool_put(p->copy);
		return rc;
	}
	s->buf = p->copy;
	s->count = size;
	s->type = MPI_PACKED;
	return MPI_SUCCESS;
}

int zexchange_run_replace(struct zexchange_args *p, MPI_Status *status)
{
	int rc = zstatus_is_missing(status) ? nowhere_to_write(p, "status") : detach_send(p);

	return rc == MPI_SUCCESS ? zexchange_run(p, status) : rc;
}

int zexchange_start_replace(struct zexchange_args *p, MPI_Request *request)
{
	int rc = request ? detach_send(p) : nowhere_to_write(p, "request");

	return rc == MPI_SUCCESS ? zexchange_start(p, request) : rc;
}
