/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives. The arguments are checked and kept once, and each start compiles a fresh schedule from them.
 * The starts may come in another order in each rank, as only the initialisations are ordered like other collectives
 * (MPI-4.0 section 6.13). So each persistent collective has a communicator of its own.
 */
#include "libzip/coll/call/coll_init.h"

#include "libzip/comm/comm_handler.h"
#include "libzip/comm/comm_twin.h"
#include "libzip/schedule/engine.h"
#include "libzip/world/error.h"
#include "libzip/world/status.h"

struct persistent {
	struct zreq req;
	struct zcoll args;
	struct zcomm *twin;    /* of the request's communicator: schedules run on it */
	struct zsched *holder; /* never started: keeps datatypes and the operation */
	struct zsched *run;    /* the last start, until the next one */
};

static void persistent_done(void *arg, int *error)
{
	struct persistent *p = arg;
	if (*error != MPI_SUCCESS)
		p->req.status.MPI_ERROR = zsched_result(p->run, &p->req.raised);
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
	r->done = r->raised = false;
	r->active = true;
	zcomm_handler_inherit(r->comm->handle, p->twin->handle); /* as of now */
	p->twin->fatal = r->comm->fatal;
	int rc = zcoll_compile(p->twin, &p->args, false, &s);
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

static const char *persistent_why(const struct zreq *r)
{
	const struct persistent *p = (const struct persistent *)(const void *)r;
	return p->run ? zsched_error_text(p->run) : "";
}

static const struct zreq_ops persistent_ops = {
	.name = "persistent collective",
	.why = persistent_why,
	.start = persistent_start,
	.destroy = persistent_destroy,
};

int zcoll_init(struct zcomm *c, const struct zcoll *a, MPI_Request *request)
{
	zcomm_reap(); /* those of requests that have been freed */
	struct zcoll args = *a;
	args.keep = true;
	struct zsched *holder = zsched_create(c, a->name);
	int rc = holder ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (holder) {
		zsched_set_lasting(holder);
		rc = zcoll_take(holder, &args);
	}
	if (rc == MPI_SUCCESS && !request)
		rc = MPI_ERR_ARG;
	if (rc != MPI_SUCCESS)
		goto err_holder;
	struct zcomm_outcome outcome = {0};
	struct zcomm *twin = zcomm_twin(c, a->name, &outcome);
	if (!twin) {
		zsched_destroy(holder);
		return zcomm_outcome_raise(c->handle, a->name, &outcome);
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
	return zcoll_raise(c, rc, &args);
err_twin:
	zcomm_unref(twin);
err_holder:
	if (holder)
		zsched_destroy(holder);
	return zcoll_raise(c, rc, &args);
}
