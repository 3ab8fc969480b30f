/* SPDX-License-Identifier: BSD-3-Clause */
/* What the collectives share: checks of arguments and the three ways to call one. */
#include "libzip/bridge/bridge.h"
#include "libzip/coll/coll.h"
#include "libzip/coll/inside/coll_data.h"
#include "libzip/comm/commnew.h"
#include "libzip/p2p/completion.h"
#include "libzip/schedule/engine.h"
#include "libzip/type/data.h"
#include "libzip/world/error.h"
#include "libzip/comm/inter.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"
#include "libzip/world/status.h"

/* Arguments */

int zcheck_root(const struct zsched *s, int root)
{
	if (zsched_inter(s) && (root == MPI_ROOT || root == MPI_PROC_NULL))
		return MPI_SUCCESS;
	return root >= 0 && root < zsched_peers(s)->size ? MPI_SUCCESS : MPI_ERR_ROOT;
}

int zcheck_op(MPI_Op op)
{
	return op != MPI_OP_NULL ? MPI_SUCCESS : MPI_ERR_OP;
}

int zcheck_data(const void *buf, MPI_Count count, MPI_Datatype type)
{
	if (count < 0)
		return MPI_ERR_COUNT;
	if (ztype_check(type) != MPI_SUCCESS || (count > 0 && !ztype_is_committed(type)))
		return MPI_ERR_TYPE;
	return buf == MPI_IN_PLACE || ztype_is_nowhere(buf, count, type) ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

int ztake_data(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type)
{
	int rc = zcheck_data(buf, count, type);
	return rc == MPI_SUCCESS ? zsched_keep_type(s, type) : rc;
}

int ztake_types(struct zsched *s, const void *buf, struct zvec counts, struct zvec displs, const MPI_Datatype **types,
	int n)
{
	if (n > 0 && (!counts.p || !displs.p || !*types))
		return MPI_ERR_ARG;
	MPI_Datatype *kept = zsched_alloc(s, ((size_t)n + 1) * sizeof *kept);
	int rc = kept ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		kept[i] = (*types)[i];
		/* Large displacements may be addresses, from MPI_BOTTOM: any pointer but none is right. */
		bool absolute = !buf && !displs.is_int && zvec_get(displs, i) != 0;
		rc = zcheck_data(absolute ? kept : buf, zvec_get(counts, i), kept[i]);
		if (rc == MPI_SUCCESS)
			rc = zsched_keep_type(s, kept[i]);
	}
	*types = kept;
	return rc;
}

int ztake_blocks(struct zsched *s, const void *buf, struct zvec counts, MPI_Datatype type, int n)
{
	int rc = counts.p ? ztype_check(type) : MPI_ERR_ARG;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = zcheck_data(buf, zvec_get(counts, i), type);
	return rc == MPI_SUCCESS ? zsched_keep_type(s, type) : rc;
}

int ztake_vector(struct zsched *s, const void *buf, struct zvec counts, MPI_Datatype type)
{
	return ztake_blocks(s, buf, counts, type, zsched_peers(s)->size);
}

int ztake_both(struct zsched *s, struct zcoll *a, int (*take)(struct zsched *, struct zcoll *))
{
	return a->sendbuf == MPI_IN_PLACE ? MPI_ERR_BUFFER : take(s, a);
}

int ztake_rooted(struct zsched *s, struct zcoll *a, int (*at_root)(struct zsched *, struct zcoll *),
	int (*elsewhere)(struct zsched *, struct zcoll *))
{
	int rc = zcheck_root(s, a->root);
	if (rc != MPI_SUCCESS || a->root == MPI_PROC_NULL)
		return rc;
	return a->root == MPI_ROOT ? at_root(s, a) : elsewhere(s, a);
}

int ztake_sent(struct zsched *s, struct zcoll *a)
{
	return ztake_data(s, a->sendbuf, a->sendcount, a->sendtype);
}

int ztake_received(struct zsched *s, struct zcoll *a)
{
	return ztake_data(s, a->recvbuf, a->recvcount, a->recvtype);
}

/* Raises an error class with the native library's own words for it. */
static int raise_class(struct zcomm *c, int class, const char *name)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;
	if (zn.Error_string(class, text, &len) != MPI_SUCCESS)
		len = 0;
	return zerror_raise(c, class, name, "%.*s", len, text);
}

/* Calling */

static int take(struct zsched *s, struct zcoll *a)
{
	if (a->taken)
		return MPI_SUCCESS;
	a->taken = true;
	/* The count and the type of a side that is in place mean nothing: programs give anything there. (As a receive
	 * buffer it is for the scatters to look at: in reductions the type is that of the call.) */
	if (a->sendbuf == MPI_IN_PLACE) {
		a->sendcount = 0;
		a->sendtype = MPI_BYTE;
	}
	zsched_across(s, true);
	if (zsched_inter(s) && !a->across)
		return MPI_ERR_COMM;
	int (*fn)(struct zsched *, struct zcoll *) = zsched_inter(s) ? a->across->take : a->take;
	return fn ? fn(s, a) : MPI_SUCCESS;
}

static int build(struct zsched *s, const struct zcoll *a)
{
	zsched_across(s, true);
	return zsched_inter(s) ? a->across->build(s, a) : a->build(s, a);
}

static int compile(struct zcomm *c, const struct zcoll *a, bool lasting, struct zsched **out)
{
	struct zcoll taken = *a;
	struct zsched *s = zsched_create(c, a->name);
	if (!s)
		return raise_class(c, MPI_ERR_NO_MEM, a->name);
	if (lasting)
		zsched_set_lasting(s);
	int rc = take(s, &taken);
	if (rc == MPI_SUCCESS)
		rc = build(s, &taken);
	if (rc != MPI_SUCCESS) {
		zsched_destroy(s);
		return raise_class(c, rc, a->name);
	}
	*out = s;
	return MPI_SUCCESS;
}

int zcoll_run(struct zcomm *c, const struct zcoll *a)
{
	struct zsched *s;
	int rc = compile(c, a, false, &s);
	return rc == MPI_SUCCESS ? zengine_run(s) : rc;
}

int zcoll_start(struct zcomm *c, const struct zcoll *a, MPI_Request *request)
{
	struct zsched *s;
	if (!request)
		return raise_class(c, MPI_ERR_ARG, a->name);
	int rc = compile(c, a, true, &s);
	if (rc != MPI_SUCCESS)
		return rc;
	rc = zreq_publish(zsched_request(s), request);
	if (rc != MPI_SUCCESS) {
		zsched_destroy(s);
		return raise_class(c, rc, a->name);
	}
	zengine_start(s);
	return MPI_SUCCESS;
}

/* Persistent collectives: the arguments are taken once, each start compiles a fresh schedule from
 * them. Their starts may come in another order in each rank (only the initialisations are ordered like other
 * collectives, MPI-4.0 section 6.13): so each has a communicator of its own. */

struct persistent {
	struct zreq req;
	struct zcoll args;
	struct zcomm *twin;    /* of the request's communicator: what it runs on */
	struct zsched *holder; /* never started: keeps datatypes and the operation */
	struct zsched *run;    /* the last start, until the next one */
};

static void persistent_done(void *arg, int *error)
{
	struct persistent *p = arg;
	if (*error != MPI_SUCCESS)
		p->req.status.MPI_ERROR = *error;
	if (p->req.orphan) { /* it goes now, the schedule when it is complete itself */
		zsched_request(p->run)->orphan = true;
		p->run = NULL;
	}
	zreq_complete(&p->req);
}

static int persistent_start(struct zreq *r)
{
	struct persistent *p = (struct persistent *)(void *)r;
	struct zsched *s;
	if (p->run)
		zsched_destroy(p->run);
	p->run = NULL;
	zstatus_empty(&r->status);
	r->done = false;
	r->active = true;
	zinter_inherit(r->comm->handle, p->twin->handle); /* as of now */
	p->twin->fatal = r->comm->fatal;
	int rc = compile(p->twin, &p->args, false, &s);
	if (rc != MPI_SUCCESS) {
		r->active = false;
		return rc;
	}
	p->run = s;
	zsched_on_done(s, persistent_done, p);
	zengine_start(s);
	return MPI_SUCCESS;
}

static void persistent_destroy(struct zreq *r)
{
	struct persistent *p = (struct persistent *)(void *)r;
	if (p->run)
		zsched_destroy(p->run);
	zsched_destroy(p->holder);
	zcomm_unref(p->twin);
}

static const struct zreq_ops persistent_ops = {
	.name = "persistent collective",
	.start = persistent_start,
	.destroy = persistent_destroy,
};

int zcoll_init(struct zcomm *c, const struct zcoll *a, MPI_Request *request)
{
	if (!request)
		return raise_class(c, MPI_ERR_ARG, a->name);
	zcomm_reap(); /* those of requests that have been freed */
	struct zcoll args = *a;
	struct zsched *holder = zsched_create(c, a->name);
	int rc = holder ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (holder) {
		zsched_set_lasting(holder);
		rc = take(holder, &args);
	}
	if (rc != MPI_SUCCESS)
		goto err_holder;
	struct zcomm *twin = zcommnew_twin(c, a->name, &rc);
	if (!twin) {
		zsched_destroy(holder);
		return rc;
	}
	struct persistent *p = (struct persistent *)(void *)zreq_create(&persistent_ops, sizeof *p, c);
	rc = p ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (!p)
		goto err_twin;
	p->args = args;
	p->holder = holder;
	p->twin = twin;
	p->req.persistent = true;
	p->req.done = true;
	zstatus_empty(&p->req.status);
	rc = zreq_publish(&p->req, request);
	if (rc == MPI_SUCCESS)
		return MPI_SUCCESS;
	zreq_release(&p->req);
	return raise_class(c, rc, a->name);
err_twin:
	zcomm_unref(twin);
err_holder:
	if (holder)
		zsched_destroy(holder);
	return raise_class(c, rc, a->name);
}

/* Local communicators */

bool zcoll_native_may_block(MPI_Comm comm)
{
	int inter = 0, size = 0;
	if (!zworld.merged || comm == MPI_COMM_SELF || comm == MPI_COMM_NULL)
		return true;
	return zn.Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter && zn.Comm_size(comm, &size) == MPI_SUCCESS &&
	       size == 1;
}

int zcoll_wait_native(int rc, MPI_Request *request, MPI_Comm comm, const char *name)
{
	return rc == MPI_SUCCESS ? zcompletion_wait_native(request, MPI_STATUS_IGNORE, comm, name) : rc;
}
