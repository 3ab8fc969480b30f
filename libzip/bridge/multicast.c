/* SPDX-License-Identifier: BSD-3-Clause */
/* One message to several remote ranks, see multicast.h. */
#include "libzip/bridge/multicast.h"

#include <string.h>

#include "libzip/bridge/multicast_large.h"
#include "libzip/bridge/multicast_post.h"
#include "libzip/bridge/multicast_send.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/carrier.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/transfer.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/op.h"
#include "libzip/world/status.h"

static struct zmulticast *active;

static void conceal(struct zmulticast *m)
{
	struct zlink *link = m->exposed ? zchannel_carrier()->link : NULL;
	if (!m->exposed)
		return;
	m->exposed = false;
	zrails_sent(zrails_of_carrier(), m->data.bytes);
	link->ops->rma->conceal(link, &m->exposure);
}

static void destroy(struct zreq *r)
{
	struct zmulticast *m = (struct zmulticast *)(void *)r;
	conceal(m);
	zpool_put(m->packed);
	zpool_put(m->sends);
}

static const struct zreq_ops ops = {.name = "multicast", .destroy = destroy};

/* Releases sends that are complete. True: all are. */
static bool collect(struct zmulticast *m)
{
	for (int i = m->nsends; i-- > 0;) {
		struct zreq *r = m->sends[i];
		if (!r->done)
			continue;
		if (r->status.MPI_ERROR != MPI_SUCCESS && m->error == MPI_SUCCESS)
			m->error = r->status.MPI_ERROR;
		zcarrier_unlist(r);
		zreq_release(r);
		m->sends[i] = m->sends[--m->nsends];
	}
	return m->nsends == 0;
}

static void finish(struct zmulticast *m)
{
	conceal(m);
	zcarrier_unlist(&m->tied);
	zstatus_empty(&m->req.status);
	m->req.status.MPI_ERROR = m->error;
	zreq_complete(&m->req);
}

bool zmulticast_turn(void)
{
	struct zmulticast **at = &active;
	bool did = false;
	if (!active)
		return false;
	while (*at) {
		struct zmulticast *m = *at;
		if (m->tied.nheld > 0)
			did |= zmulticast_post_turn(m);
		if (m->tied.large)
			did |= zmulticast_large_turn(m);
		if (!collect(m)) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		finish(m);
		did = true;
	}
	return did;
}

static void go_alone(struct zop *op, void *ctx)
{
	(void)ctx;
	if (op->t.group == ZTRANSFER_LISTED)
		op->t.group = ZTRANSFER_ALONE; /* the transfer starts again where its receiver says */
}

void zmulticast_conceal(void)
{
	for (struct zmulticast *m = active; m; m = m->next)
		conceal(m);
}

void zmulticast_lose_carrier(void)
{
	zcarrier_forget();
	for (struct zmulticast *m = active; m; m = m->next)
		while (m->tied.n > 0)
			ztied_part(m->tied.op[m->tied.n - 1]);
	ztransfer_each(&zstations[0], go_alone, NULL);
}

static bool reaches_several(const struct zmulticast *m, const int *dest)
{
	int several = 0;
	for (int i = 0; i < m->n && several < 2; i++) {
		const struct zremote *r = zremote_get(&zstations[0], (uint32_t)m->req.comm->vrank[dest[i]]);
		several += r && zcarrier_reaches(r);
	}
	return several > 1;
}

/* Opens the bytes of a large message to the carrier's zipperd, which reads them once for all receivers. */
static bool can_offer(struct zmulticast *m, const int *dest)
{
	struct zchannel *ch = zchannel_carrier();
	if (!m->data.dense || !ztransfer_would_expose(ch, m->data.bytes) || !reaches_several(m, dest))
		return false;
	if (ch->link->ops->rma->expose(ch->link, ZLINK_TX, m->data.dense, m->data.bytes, &m->exposure) != 0)
		return false;
	zrails_sending(zrails_of_carrier(), m->data.bytes);
	return m->exposed = m->offers = true;
}

/* Can the receivers share its fragments? The bytes need not be packed for each, and no one-sided transfer is better. */
static bool is_shareable(const struct zmulticast *m, const int *dest)
{
	return m->data.dense &&
	       (!ztransfer_would_expose(zchannel_carrier(), m->data.bytes) || reaches_several(m, dest));
}

static int prepare(struct zmulticast *m)
{
	size_t list = (size_t)m->n * (sizeof(struct zreq *) + sizeof(struct zop *));
	int rc = zdata_view(&m->data, m->buf, m->count, m->type);
	if (rc != MPI_SUCCESS)
		return rc;
	m->sends = zpool_get(list);
	if (!m->sends)
		return MPI_ERR_NO_MEM;
	m->tied.op = (struct zop **)(void *)(m->sends + m->n);
	m->tied.large = m->data.bytes > zworld.eager_bytes;
	if (m->data.dense || m->tied.large)
		return MPI_SUCCESS;
	m->packed = zpool_get(m->data.bytes ? m->data.bytes : 1);
	return m->packed ? zdata_pack(m->packed, m->data.bytes, m->buf, m->count, m->type) : MPI_ERR_NO_MEM;
}

int zmulticast_start(struct zcomm *c, enum zcomm_context context, const void *buf, MPI_Count count, MPI_Datatype type,
	const int *dest, int n, int tag, int64_t patience_ms, struct zreq **out)
{
	struct zmulticast *m = (struct zmulticast *)(void *)zreq_create(&ops, sizeof(*m), c);
	if (!m)
		return MPI_ERR_NO_MEM;
	m->context = context;
	m->buf = buf;
	m->count = count;
	m->type = type;
	m->tag = tag;
	m->n = n;
	m->patience_ns = patience_ms * 1000000;
	int rc = prepare(m);
	if (rc != MPI_SUCCESS) {
		zreq_release(&m->req);
		return rc;
	}
	bool at_once = !m->tied.large || can_offer(m, dest);
	bool share = !at_once && is_shareable(m, dest);
	if (at_once)
		rc = zmulticast_post_start(m, dest);
	for (int i = 0; i < n && !at_once; i++) {
		if (share)
			zmulticast_large_start(m, dest[i]);
		else
			zmulticast_send_alone(m, dest[i]);
	}
	if (rc != MPI_SUCCESS) {
		zreq_release(&m->req);
		return rc;
	}
	*out = &m->req;
	if (collect(m)) {
		finish(m);
		return MPI_SUCCESS;
	}
	m->next = active;
	active = m;
	return MPI_SUCCESS;
}
