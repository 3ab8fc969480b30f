/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication (MPI-4.0 chapter 4) across clusters. Every partition of the sender is a message of its
 * own, a piece (pieces.h), which leaves as soon as it is ready. MPI_Psend_init tells the receiver the number of the
 * first piece, and the number and length of pieces. So requests of one source, tag and communicator meet in the order
 * in which they were made, whichever is started first, and the receiver may have other partitions. Within a part the
 * native library does the work; but its statuses name a rank of the shadow, so a receive may need a request of ours
 * around the native one.
 */
#include "libzip/p2p/completion.h"
#include "libzip/shim/station.h"
#include "libzip/world/error.h"
#include "libzip/p2p/p2p.h"
#include "libzip/p2p/pieces.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"
#include "libzip/type/typehold.h"

/* --- receiving within this part --- */

static int start_native(struct zreq *r)
{
	struct zpieces *p = (struct zpieces *)r;

	zpieces_rewind(p);
	return zn.Start(&p->native);
}

static bool progress_native(struct zreq *r)
{
	struct zpieces *p = (struct zpieces *)r;
	int flag = 0;

	if (r->done)
		return true;
	int rc = zerror_test_native(&p->native, &flag, &r->status);
	if (!flag && rc == MPI_SUCCESS)
		return false;
	r->status.MPI_SOURCE = p->rank;
	r->status.MPI_ERROR = rc;
	zreq_complete(r);
	return true;
}

static const struct zreq_ops native_ops = {.name = "partitioned receive",
	.progress = progress_native,
	.start = start_native,
	.destroy = zpieces_destroy};

/* --- the functions --- */

static struct zpieces *make(struct zcomm *c, const struct zp2p_args *a, int partitions, const struct zreq_ops *ops)
{
	struct zpieces *p = (struct zpieces *)zreq_create(ops, sizeof(*p), c);

	if (!p)
		return NULL;
	p->rank = a->rank;
	p->tag = a->tag;
	p->partitions = partitions;
	p->buf = a->buf;
	p->count = a->count;
	p->extent = (MPI_Aint)ztype_find(a->type)->extent;
	p->req.persistent = true;
	p->type = MPI_DATATYPE_NULL;
	p->native = MPI_REQUEST_NULL;
	return p;
}

static int publish(struct zpieces *p, int rc, MPI_Request *request)
{
	if (rc == MPI_SUCCESS)
		rc = zreq_publish(&p->req, request);
	if (rc != MPI_SUCCESS)
		zreq_release(&p->req);
	return rc;
}

static int our_init(struct zcomm *c, const struct zp2p_args *a, int partitions, bool sends, MPI_Request *request)
{
	struct zpieces *p = make(c, a, partitions, sends ? &zpieces_send_ops : &zpieces_recv_ops);

	if (!p)
		return MPI_ERR_NO_MEM;
	int rc = zdata_view(&p->data, a->buf, a->count * partitions, a->type);
	const MPI_Datatype type = a->type == MPI_DATATYPE_NULL ? MPI_BYTE : a->type; /* no elements: any will do */
	if (rc == MPI_SUCCESS && (rc = ztypehold_take(type)) == MPI_SUCCESS)
		p->type = type;
	if (rc == MPI_SUCCESS)
		rc = sends ? zpieces_init_send(p) : zpieces_init_recv(p);
	return publish(p, rc, request);
}

static int native_init(const struct zp2p_args *a, MPI_Comm comm, int rank, int partitions, MPI_Info info, bool sends,
	MPI_Request *request)
{
	zcompletions_testall_fails = zrunning_has_bug(ZVERSION_TESTALL);
	return sends ? zn.Psend_init(a->buf, partitions, a->count, a->type, rank, a->tag, comm, info, request)
		     : zn.Precv_init(a->buf, partitions, a->count, a->type, rank, a->tag, comm, info, request);
}

static int local_init(struct zcomm *c, const struct zp2p_args *a, int partitions, MPI_Info info, bool sends,
	MPI_Request *request)
{
	const int rank = zcomm_shadow_rank(c, a->rank);

	if (sends || rank == a->rank)
		return native_init(a, c->shadow, rank, partitions, info, sends, request);
	struct zpieces *p = make(c, a, partitions, &native_ops);
	if (!p)
		return zerror_raise(c, MPI_ERR_NO_MEM, a->name, "cannot make the request");
	return publish(p, native_init(a, c->shadow, rank, partitions, info, false, &p->native), request);
}

static int init(const struct zp2p_args *a, int partitions, MPI_Info info, bool sends, MPI_Request *request)
{
	struct zcomm *c = zcomm_find(a->comm);

	if (!c)
		return native_init(a, a->comm, a->rank, partitions, info, sends, request);
	int rc = zp2p_check_send(c, a); /* there are no wildcards */
	if (rc != MPI_SUCCESS)
		return rc;
	if (partitions < 1)
		return zerror_raise(c, MPI_ERR_ARG, a->name, "%d partitions", partitions);
	if (a->rank == MPI_PROC_NULL)
		return native_init(a, c->shadow, MPI_PROC_NULL, partitions, info, sends, request);
	if (zcomm_is_local_rank(c, a->rank))
		return local_init(c, a, partitions, info, sends, request);
	rc = our_init(c, a, partitions, sends, request);
	return rc == MPI_SUCCESS ? rc : zerror_raise(c, rc, a->name, "cannot make the request");
}

int zip_Psend_init(const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag,
	MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
	struct zp2p_args a = {"MPI_Psend_init", comm, (void *)(uintptr_t)buf, count, type, dest, tag};

	return init(&a, partitions, info, true, request);
}

int zip_Precv_init(void *buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
	MPI_Info info, MPI_Request *request)
{
	struct zp2p_args a = {"MPI_Precv_init", comm, buf, count, type, source, tag};

	return init(&a, partitions, info, false, request);
}

/* Finds an active request of that kind which has partitions low..high. NULL: the error has been raised, and is in *rc.
 */
static struct zpieces *find(MPI_Request request, const struct zreq_ops *ops, int low, int high, const char *name,
	int *rc)
{
	struct zreq *r = zreq_find(request);
	struct zpieces *p = (struct zpieces *)r;

	if (!r || (r->ops != ops && (r->ops != &native_ops || ops != &zpieces_recv_ops)) || !r->active)
		*rc = zerror_raise(r ? r->comm : NULL, MPI_ERR_REQUEST, name, "not a %s that was started", ops->name);
	else if (low < 0 || high >= p->partitions)
		*rc = zerror_raise(r->comm, MPI_ERR_ARG, name, "partition %d is not in the request (0..%d)",
			low < 0 ? low : high, p->partitions - 1);
	else
		return p;
	return NULL;
}

static int ready_range(int low, int high, MPI_Request request, const char *name)
{
	int rc;
	struct zpieces *p = find(request, &zpieces_send_ops, low, high, name, &rc);

	if (!p)
		return rc;
	rc = MPI_SUCCESS;
	for (int i = low; i <= high && rc == MPI_SUCCESS; i++)
		rc = zpieces_ready(p, i, name);
	zprogress_now_and_then();
	return rc;
}

int zip_Pready(int partition, MPI_Request request)
{
	if (!zreq_is_ours(request))
		return zn.Pready(partition, request);
	return ready_range(partition, partition, request, "MPI_Pready");
}

int zip_Pready_range(int low, int high, MPI_Request request)
{
	if (!zreq_is_ours(request))
		return zn.Pready_range(low, high, request);
	return ready_range(low, high, request, "MPI_Pready_range");
}

int zip_Pready_list(int length, const int partitions[], MPI_Request request)
{
	int rc = MPI_SUCCESS;

	if (!zreq_is_ours(request))
		return zn.Pready_list(length, partitions, request);
	for (int i = 0; i < length && rc == MPI_SUCCESS; i++)
		rc = ready_range(partitions[i], partitions[i], request, "MPI_Pready_list");
	return rc;
}

static bool arrived(struct zpieces *p, int i)
{
	const int was = zstation_visit(p->req.station);
	int flag = 0;
	bool there = p->native == MPI_REQUEST_NULL
			     ? zpieces_has_arrived(p, i)
			     : p->req.done || (zn.Parrived(p->native, i, &flag) == MPI_SUCCESS && flag);

	zstation_return(was);
	return there;
}

int zip_Parrived(MPI_Request request, int partition, int *flag)
{
	int rc = MPI_SUCCESS;

	if (!zreq_is_ours(request)) {
		zprogress_test_failed(true);
		return zn.Parrived(request, partition, flag);
	}
	struct zpieces *p = find(request, &zpieces_recv_ops, partition, partition, "MPI_Parrived", &rc);
	if (!p)
		return rc;
	*flag = arrived(p, partition) ||
		(zprogress_test_failed(p->native != MPI_REQUEST_NULL) && arrived(p, partition));
	return MPI_SUCCESS;
}
