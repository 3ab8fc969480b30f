/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes, and the receives of probed messages. See probe.h. */
#include "libzip/p2p/probe.h"

#include "libzip/bridge/anysource.h"
#include "libzip/bridge/deliver.h"
#include "libzip/bridge/queue.h"
#include "libzip/progress/progress.h"
#include "libzip/stream/op.h"
#include "libzip/p2p/completion.h"
#include "libzip/shim/station.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"
#include "libzip/p2p/p2p.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/shim.h"
#include "libzip/bridge/op_start.h"
#include "libzip/world/message.h"
#include "libzip/world/status.h"

struct probed { /* the object of a message handle: a message of a spanning communicator; from the pool */
	struct zcomm *comm;
	struct zqueued *arrival; /* bridged; NULL: native */
	MPI_Message native;
	int source, tag;
};

struct probe {		 /* one call */
	struct zcomm *c; /* NULL: local */
	MPI_Comm comm;
	const char *name;
	int source, tag;
	MPI_Message *message; /* NULL: not a matching probe */
	MPI_Status *status;
	int flag, rc;
	int found; /* the message's tag */
};

static int keep_probed(struct probe *p, struct zqueued *a, MPI_Message native, const MPI_Status *st)
{
	struct probed *m = zpool_get(sizeof(*m));

	if (!m || zmessage_publish(m, p->message) != 0) {
		zpool_put(m);
		return zerror_raise(p->c, MPI_ERR_NO_MEM, p->name, "no memory for a message handle");
	}
	*m = (struct probed){p->c, a, native, st->MPI_SOURCE, st->MPI_TAG};
	zcomm_ref(p->c);
	if (a)
		zqueue_detach(a);
	return MPI_SUCCESS;
}

static bool probe_bridged(struct probe *p)
{
	MPI_Status st;
	struct zqueued *a = zqueue_find(p->c, p->source, p->tag);

	if (!a)
		return false;
	zstatus_set(&st, zqueue_source(a, p->c), a->tag, MPI_SUCCESS, (MPI_Count)a->total, false);
	p->flag = 1;
	p->found = a->tag;
	if (p->message)
		p->rc = keep_probed(p, a, MPI_MESSAGE_NULL, &st);
	if (p->status != MPI_STATUS_IGNORE) {
		st.MPI_ERROR = p->status->MPI_ERROR;
		*p->status = st;
	}
	return true;
}

/* Probes a local communicator: everything is native, also status and message. */
static void probe_local(struct probe *p)
{
	if (p->message)
		p->rc = zn.Improbe(p->source, p->tag, p->comm, &p->flag, p->message, p->status);
	else
		p->rc = zn.Iprobe(p->source, p->tag, p->comm, &p->flag, p->status);
}

static void probe_shadow(struct probe *p)
{
	int source = p->source < 0 ? p->source : zcomm_shadow_rank(p->c, p->source);
	MPI_Message native;
	MPI_Status st;

	zstatus_empty(&st);
	if (p->message)
		p->rc = zn.Improbe(source, p->tag, p->c->shadow, &p->flag, &native, &st);
	else
		p->rc = zn.Iprobe(source, p->tag, p->c->shadow, &p->flag, &st);
	if (p->rc != MPI_SUCCESS || !p->flag)
		return;
	p->found = st.MPI_TAG;
	if (st.MPI_SOURCE >= 0 && st.MPI_SOURCE < p->c->nlocal)
		st.MPI_SOURCE = p->c->shadow_to_rank[st.MPI_SOURCE];
	if (p->message && native == MPI_MESSAGE_NO_PROC)
		*p->message = native;
	else if (p->message)
		p->rc = keep_probed(p, NULL, native, &st);
	if (p->status != MPI_STATUS_IGNORE) {
		st.MPI_ERROR = p->status->MPI_ERROR;
		*p->status = st;
	}
}

static bool probe_native(struct probe *p)
{
	probe_shadow(p);
	return p->flag || p->rc != MPI_SUCCESS;
}

/* Probes from any source. The message stays where it is, for the receive that follows. */
static void probe_anywhere(struct probe *p)
{
	struct zcomm *c = p->c;
	bool native = zanysource_native_first(c, p->tag) && probe_native(p);

	if (!native && !probe_bridged(p) && !(native = probe_native(p)))
		return;
	if (p->rc == MPI_SUCCESS && !p->message)
		zanysource_probed(c, p->tag, p->found, native);
	else
		zanysource_taken(c, p->tag);
}

static void probe_spanning(struct probe *p)
{
	if (p->source == MPI_ANY_SOURCE)
		probe_anywhere(p);
	else if (p->source >= 0 && !zcomm_is_local_rank(p->c, p->source))
		probe_bridged(p);
	else
		probe_shadow(p);
}

static bool probe_once(void *ctx)
{
	struct probe *p = ctx;

	p->flag = 0;
	if (!p->c) {
		probe_local(p);
	} else {
		const int was = zstation_visit(p->c->station);
		probe_spanning(p);
		zstation_return(was);
	}
	return p->flag || p->rc != MPI_SUCCESS;
}

static int probe_open(struct probe *p, int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status,
	const char *name)
{
	*p = (struct probe){zcomm_find(comm), comm, name, source, tag, message, status, 0, MPI_SUCCESS, tag};
	int rc = p->c ? zp2p_check_probe(p->c, name, source, tag) : MPI_SUCCESS;
	if (rc != MPI_SUCCESS || __builtin_expect(!zstatus_is_missing(status), 1))
		return rc;
	return zerror_raise_native(comm, MPI_ERR_ARG, name, ZERROR_NULL, "status");
}

/* Can the probe find only a local message? */
static bool is_native(const struct probe *p)
{
	return !p->c || (p->source >= 0 && zcomm_is_local_rank(p->c, p->source));
}

static int probe_now(struct probe *p, int *flag)
{
	if (probe_once(p))
		zprogress_now_and_then();
	else if (zprogress_test_failed(is_native(p)))
		probe_once(p);
	*flag = p->flag;
	return p->rc;
}

static int probe_wait(struct probe *p)
{
	if (probe_once(p))
		zprogress_now_and_then();
	else if (is_native(p))
		zprogress_wait_native(probe_once, p);
	else
		zprogress_wait(probe_once, p);
	return p->rc;
}

int zip_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
	struct probe p;
	int rc = probe_open(&p, source, tag, comm, NULL, status, "MPI_Iprobe");

	if (rc == MPI_SUCCESS && __builtin_expect(!flag, 0))
		rc = zerror_raise_native(comm, MPI_ERR_ARG, "MPI_Iprobe", ZERROR_NULL, "flag");
	return rc == MPI_SUCCESS ? probe_now(&p, flag) : rc;
}

int zip_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
	struct probe p;
	int rc = probe_open(&p, source, tag, comm, message, status, "MPI_Improbe");

	return rc == MPI_SUCCESS ? probe_now(&p, flag) : rc;
}

int zip_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct probe p;
	int rc = probe_open(&p, source, tag, comm, NULL, status, "MPI_Probe");

	return rc == MPI_SUCCESS ? probe_wait(&p) : rc;
}

int zip_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
	struct probe p;
	int rc = probe_open(&p, source, tag, comm, message, status, "MPI_Mprobe");

	return rc == MPI_SUCCESS ? probe_wait(&p) : rc;
}

int zprobe_imrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Request *request,
	const char *name)
{
	struct probed *m = zmessage_find(*message);
	struct zop *op;

	if (!m)
		return znative_Imrecv(buf, count, type, message, request);
	struct zp2p_args check = {name, MPI_COMM_NULL, buf, count, type, m->source, m->tag};
	int rc = zp2p_check_recv(m->comm, &check);
	if (rc != MPI_SUCCESS)
		return rc;
	struct zop_args args = {m->comm, ZCOMM_PT2PT, buf, count, type, m->source, m->tag};
	const int was = zstation_visit(m->comm->station);
	rc = zop_start_make(&op, ZOP_RECV, &args, false);
	if (rc != MPI_SUCCESS) {
		zstation_return(was);
		return zerror_raise(m->comm, rc, name, "cannot start the receive");
	}
	op->req.active = true;
	if (m->arrival)
		zdeliver_detached(m->arrival, op);
	else
		rc = znative_Imrecv(buf, count, type, &m->native, &op->native);
	if (rc == MPI_SUCCESS)
		rc = zreq_publish(&op->req, request);
	else
		zreq_release(&op->req);
	zstation_return(was);
	zmessage_drop(*message);
	*message = MPI_MESSAGE_NULL;
	zcomm_unref(m->comm);
	zpool_put(m);
	return rc;
}

int zprobe_mrecv(void *buf, MPI_Count count, MPI_Datatype type, MPI_Message *message, MPI_Status *status,
	const char *name)
{
	MPI_Request request;

	if (*message == MPI_MESSAGE_NO_PROC)
		return zn.Mrecv_c(buf, count, type, message, status);
	int rc = zprobe_imrecv(buf, count, type, message, &request, name);
	return rc == MPI_SUCCESS
		       ? zcompletion_wait(&request, status, ZABI_RAISES_ON_OWN ? MPI_COMM_NULL : zhandlers_home(), name)
		       : rc;
}
