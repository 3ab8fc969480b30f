/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues of the fake as objects: completion channels and queues, shared receive queues, queue pairs. */
#include "test/fakeverbs/objects.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* --- completion channels --- */

int fake_socket(struct fake_address *a)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un any = {.sun_family = AF_UNIX};
	*a = (struct fake_address){.len = sizeof(a->sun)};
	if (fd >= 0 && bind(fd, (struct sockaddr *)&any, sizeof(any.sun_family)) == 0 &&
		getsockname(fd, (struct sockaddr *)&a->sun, &a->len) == 0)
		return fd;
	int code = errno;
	if (fd >= 0)
		close(fd);
	errno = code;
	return -1;
}

/* With the lock held. */
static void *fail(struct ibv_context *ctx, void *object, int code)
{
	fake_unlock(fake_fabric());
	free(object);
	if (!fcontext_of(ctx)->dev->mute)
		errno = code;
	return NULL;
}

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct fchannel *c = calloc(1, sizeof(*c));
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	int code = !c ? ENOMEM : fcontext_is_lost(ctx) ? EIO : fake_hit(f, FAKE_CHANNEL);
	if (code == 0 && (c->channel.fd = fake_socket(&c->address)) < 0)
		code = errno;
	if (code != 0)
		return fail(ctx, c, code);
	c->channel.context = ctx;
	fcontext_of(ctx)->users++;
	fake_unlock(f);
	return &c->channel;
}

/* Returns true: the object goes; false, with a complaint: it is in use. Leaves the lock if not. */
static bool may_go(unsigned users, const char *what)
{
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	if (users == 0)
		return true;
	fake_complain(f, "a %s with %u users is destroyed", what, users);
	fake_unlock(f);
	return false;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	struct fchannel *c = (struct fchannel *)channel;
	if (!may_go(c->users, "completion channel"))
		return EBUSY;
	fcontext_of(channel->context)->users--;
	fake_unlock(fake_fabric());
	close(channel->fd);
	free(c);
	return 0;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	uint64_t cookie;
	if (recv(channel->fd, &cookie, sizeof(cookie), 0) != sizeof(cookie))
		return -1;
	struct fcq *q = (struct fcq *)(uintptr_t)cookie;
	fake_lock(fake_fabric());
	((struct fake_cq *)fake_ptr(fake_fabric(), q->at))->raised = false;
	fake_unlock(fake_fabric());
	q->events++;
	*cq = &q->cq;
	*cq_context = q->cq.cq_context;
	return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	((struct fcq *)cq)->acked += n;
}

/* --- completion queues --- */

static struct fcq *create_cq(struct ibv_context *ctx, int cqe, void *cq_context, struct ibv_comp_channel *channel,
	int vector, bool single)
{
	struct fchannel *c = (struct fchannel *)channel;
	struct fake_fabric *f = fake_fabric();
	struct fcq *q = calloc(1, sizeof(*q));
	fake_lock(f);
	int code = !q ? ENOMEM : fcontext_is_lost(ctx) ? EIO : fake_hit(f, FAKE_CQ);
	if (code == 0 && (cqe < 1 || cqe > 1 << 20 || vector < 0 || vector >= FAKE_VECTORS))
		code = EINVAL;
	if (code == 0 && single && fcontext_of(ctx)->dev->tds == 0)
		code = EOPNOTSUPP;
	if (code == 0 && !(q->at = fake_alloc(f, sizeof(struct fake_cq))))
		code = ENOMEM;
	struct fake_cq *s = code == 0 ? fake_ptr(f, q->at) : NULL;
	if (s && !(s->ring = fake_alloc(f, (size_t)cqe * sizeof(struct fake_cqe)))) {
		fake_free(f, q->at, sizeof(*s));
		code = ENOMEM;
	}
	if (code != 0)
		return fail(ctx, q, code);
	s->size = (uint32_t)cqe;
	s->vector = vector;
	s->cookie = (uintptr_t)q;
	if (c) {
		s->channel = c->address;
		c->users++;
	}
	q->single = single;
	q->ex.context = ctx;
	q->ex.channel = channel;
	q->ex.cq_context = cq_context;
	q->ex.cqe = cqe;
	fcontext_of(ctx)->users++;
	fake_unlock(f);
	return q;
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *cq_context,
	struct ibv_comp_channel *channel, int vector)
{
	struct fcq *q = create_cq(ctx, cqe, cq_context, channel, vector, false);
	return q ? &q->cq : NULL;
}

struct ibv_cq_ex *fake_create_cq_ex(struct ibv_context *ctx, struct ibv_cq_init_attr_ex *a)
{
	bool single = a->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS && a->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	struct fcq *q = create_cq(ctx, (int)a->cqe, a->cq_context, a->channel, (int)a->comp_vector, single);
	if (!q)
		return NULL;
	fake_extend_cq(&q->ex);
	return &q->ex;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
	struct fcq *q = (struct fcq *)cq;
	struct fake_fabric *f = fake_fabric();
	if (!may_go(q->users, "completion queue"))
		return EBUSY;
	if (q->events != q->acked)
		fake_complain(f,
			"a completion queue is destroyed with events that were not acknowledged: it would hang");
	struct fake_cq *s = fake_ptr(f, q->at);
	fake_free(f, s->ring, s->size * sizeof(struct fake_cqe));
	fake_free(f, q->at, sizeof(*s));
	if (q->cq.channel)
		((struct fchannel *)q->cq.channel)->users--;
	fcontext_of(cq->context)->users--;
	fake_unlock(f);
	free(q);
	return 0;
}

/* --- receive queues --- */

static fake_at create_rq(struct fake_fabric *f, uint32_t size, struct ibv_pd *pd)
{
	fake_at at = fake_alloc(f, sizeof(struct fake_rq));
	struct fake_rq *rq = fake_ptr(f, at);
	if (!rq)
		return 0;
	rq->size = size ? size : 1;
	rq->ring = fake_alloc(f, rq->size * sizeof(struct fake_rwqe));
	rq->pid = getpid();
	rq->pd = (uintptr_t)fpd_base(pd);
	if (rq->ring)
		return at;
	fake_free(f, at, sizeof(*rq));
	return 0;
}

static void destroy_rq(struct fake_fabric *f, fake_at at)
{
	struct fake_rq *rq = fake_ptr(f, at);
	fake_free(f, rq->ring, rq->size * sizeof(struct fake_rwqe));
	fake_free(f, at, sizeof(*rq));
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *a)
{
	struct fake_fabric *f = fake_fabric();
	struct fsrq *s = calloc(1, sizeof(*s));
	fake_lock(f);
	int code = !s ? ENOMEM : fcontext_is_lost(pd->context) ? EIO : fake_hit(f, FAKE_SRQ);
	if (code == 0 && a->attr.max_wr > fcontext_of(pd->context)->dev->srq_max)
		code = EINVAL;
	if (code == 0 && !(s->at = create_rq(f, a->attr.max_wr, pd)))
		code = ENOMEM;
	if (code != 0)
		return fail(pd->context, s, code);
	s->srq.context = pd->context;
	s->srq.pd = pd;
	((struct fpd *)pd)->users++;
	fake_unlock(f);
	return &s->srq;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
	struct fsrq *s = (struct fsrq *)srq;
	if (!may_go(s->users, "shared receive queue"))
		return EBUSY;
	destroy_rq(fake_fabric(), s->at);
	((struct fpd *)srq->pd)->users--;
	fake_unlock(fake_fabric());
	free(s);
	return 0;
}

/* --- queue pairs --- */

static struct fake_qp *new_qp(struct fake_fabric *f)
{
	static uint32_t from = 1;
	for (uint32_t i = 0; i < FAKE_QPS; i++) {
		uint32_t n = (from + i) % FAKE_QPS;
		struct fake_qp *q = &f->qp[n];
		if (n == 0 || q->used)
			continue;
		from = n + 1;
		uint32_t turn = q->number / FAKE_QPS + 1;
		*q = (struct fake_qp){.used = true,
			.pid = getpid(),
			.state = IBV_QPS_RESET,
			.number = (turn * FAKE_QPS + n) & 0xffffff};
		if (f->nqps <= n)
			f->nqps = n + 1;
		return q;
	}
	return NULL;
}

static bool fits(const struct ibv_qp_init_attr *a, const struct fake_device *d)
{
	return a->qp_type == IBV_QPT_RC && a->cap.max_send_sge <= FAKE_SGES && a->cap.max_recv_sge <= 1 &&
	       a->cap.max_inline_data <= d->inline_bytes && a->cap.max_send_wr <= 16384 && a->cap.max_recv_wr <= 16384;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct fake_fabric *f = fake_fabric();
	struct fcontext *ctx = fcontext_of(pd->context);
	struct fqp *mine = calloc(1, sizeof(*mine));
	fake_lock(f);
	int code = !mine ? ENOMEM : fcontext_is_lost(pd->context) ? EIO : fake_hit(f, FAKE_QP);
	if (code == 0 && (!fits(a, ctx->dev) || a->send_cq->context != pd->context ||
				 a->recv_cq->context != pd->context || (a->srq && a->srq->context != pd->context)))
		code = EINVAL;
	struct fake_qp *q = code == 0 ? new_qp(f) : NULL;
	if (code == 0 && q) {
		q->depth = a->cap.max_send_wr ? a->cap.max_send_wr : 1;
		q->sq = fake_alloc(f, q->depth * sizeof(struct fake_swqe));
		q->own_rq = !a->srq;
		q->rq = a->srq ? ((struct fsrq *)a->srq)->at : create_rq(f, a->cap.max_recv_wr, pd);
	}
	if (code == 0 && (!q || !q->sq || !q->rq)) {
		if (q)
			q->used = false;
		code = ENOMEM;
	}
	if (code != 0)
		return fail(pd->context, mine, code);
	q->pd = (uintptr_t)fpd_base(pd);
	q->device = (uint8_t)(ctx->dev - f->device);
	q->context = ctx->index;
	q->cookie = (uintptr_t)mine;
	q->domain = ((struct fpd *)pd)->domain;
	q->single = ((struct fcq *)a->send_cq)->single;
	q->send_cq = ((struct fcq *)a->send_cq)->at;
	q->recv_cq = ((struct fcq *)a->recv_cq)->at;
	((struct fcq *)a->send_cq)->users++;
	((struct fcq *)a->recv_cq)->users++;
	((struct fpd *)pd)->users++;
	if (a->srq)
		((struct fsrq *)a->srq)->users++;
	mine->shared = q;
	mine->inline_bytes = a->cap.max_inline_data;
	mine->qp = (struct ibv_qp){.context = pd->context,
		.pd = pd,
		.send_cq = a->send_cq,
		.recv_cq = a->recv_cq,
		.srq = a->srq,
		.qp_num = q->number,
		.state = IBV_QPS_RESET,
		.qp_type = IBV_QPT_RC};
	fake_unlock(f);
	return &mine->qp;
}

/* A queue pair that goes takes its completions along. */
static void purge(struct fake_fabric *f, fake_at at, uint32_t number)
{
	struct fake_cq *cq = fake_ptr(f, at);
	struct fake_cqe *ring = fake_ptr(f, cq->ring);
	uint32_t to = cq->head;
	for (uint32_t i = cq->head; i != cq->tail; i++)
		if (ring[i % cq->size].wc.qp_num != number)
			ring[to++ % cq->size] = ring[i % cq->size];
	cq->tail = to;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
	struct fqp *mine = (struct fqp *)qp;
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	struct fake_qp *q = mine->shared;
	purge(f, q->send_cq, q->number);
	purge(f, q->recv_cq, q->number);
	fake_free(f, q->sq, q->depth * sizeof(struct fake_swqe));
	if (q->own_rq)
		destroy_rq(f, q->rq);
	q->used = false;
	((struct fcq *)qp->send_cq)->users--;
	((struct fcq *)qp->recv_cq)->users--;
	((struct fpd *)qp->pd)->users--;
	if (qp->srq)
		((struct fsrq *)qp->srq)->users--;
	fake_unlock(f);
	free(mine);
	return 0;
}

/* The attributes that are needed for each state (InfiniBand specification 1.3, table 96), of those that we use. */
static bool may_change(const struct fake_qp *q, const struct ibv_qp_attr *a, int mask)
{
	static const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
			 rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
			 rts = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			       IBV_QP_MAX_QP_RD_ATOMIC;
	switch (a->qp_state) {
	case IBV_QPS_INIT:
		return q->state == IBV_QPS_RESET && mask == init;
	case IBV_QPS_RTR:
		return q->state == IBV_QPS_INIT && mask == rtr && a->rq_psn <= 0xffffff;
	case IBV_QPS_RTS:
		return q->state == IBV_QPS_RTR && mask == rts && a->sq_psn <= 0xffffff;
	case IBV_QPS_ERR:
		return mask == IBV_QP_STATE;
	default:
		return false;
	}
}

static bool is_mapped(const uint8_t gid[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
	return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

static int address(struct fake_fabric *f, struct fake_qp *q, const struct ibv_ah_attr *ah)
{
	const struct fake_device *d = &f->device[q->device];
	if (ah->port_num != q->port || ((!d->ib || d->grh) && !ah->is_global) || ah->sl > 15 || (d->ib && !ah->dlid))
		return EINVAL;
	const uint8_t *own = fake_gid(d, q->port, ah->grh.sgid_index);
	if (!d->ib && (!own || is_mapped(own) != is_mapped(ah->grh.dgid.raw)))
		return EINVAL; /* as Linux does */
	const int code = d->ib ? 0 : fake_hit(f, FAKE_ROUTE);
	if (code != 0)
		return code;
	q->global = ah->is_global;
	q->v1 = !d->ib && d->v1 && ah->grh.sgid_index == 0;
	q->dlid = ah->dlid;
	q->sl = ah->sl;
	memcpy(q->dgid, ah->grh.dgid.raw, 16);
	return 0;
}

/* As Linux does while a neighbour does not answer. */
static void seek_way(struct fake_fabric *f)
{
	f->seeks++;
	while (f->seeking == getpid()) {
		fake_unlock(f);
		poll(NULL, 0, 1);
		fake_lock(f);
	}
	f->seeks--;
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	struct fake_fabric *f = fake_fabric();
	struct fake_qp *q = ((struct fqp *)qp)->shared;
	fake_lock(f);
	if (a->qp_state == IBV_QPS_RTR && !f->device[q->device].ib)
		seek_way(f);
	const struct fake_device *d = &f->device[q->device];
	int code = q->gone ? EIO : fake_hit(f, a->qp_state == IBV_QPS_ERR ? FAKE_END : FAKE_MODIFY);
	if (code == 0 && !may_change(q, a, mask))
		code = EINVAL;
	if (code == 0 && a->qp_state == IBV_QPS_INIT) {
		if (a->port_num < 1 || a->port_num > d->ports || a->pkey_index >= FAKE_PKEYS)
			code = EINVAL;
		q->port = a->port_num;
		q->pkey_index = a->pkey_index;
		q->access = a->qp_access_flags;
	} else if (code == 0 && a->qp_state == IBV_QPS_RTR) {
		code = address(f, q, &a->ah_attr);
		q->peer = a->dest_qp_num;
		q->rq_psn = a->rq_psn;
		q->mtu = (uint8_t)a->path_mtu;
		q->peer_reads = a->max_dest_rd_atomic;
	} else if (code == 0 && a->qp_state == IBV_QPS_RTS) {
		q->sq_psn = a->sq_psn;
		q->reads = a->max_rd_atomic;
		q->retries = a->retry_cnt;
		q->rnr_retries = a->rnr_retry;
	} else if (code == 0) {
		/* by its owner: then the fake is strict, and received messages are not visible before the event */
		if (!q->own_rq && !d->silent && q->state != IBV_QPS_ERR)
			fake_hold(f, q, true);
		fake_qp_error(f, qp->context->async_fd, q);
	}
	if (code == 0)
		qp->state = q->state = a->qp_state;
	fake_unlock(f);
	return code;
}

EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	*attr = (struct ibv_qp_attr){.qp_state = ((struct fqp *)qp)->shared->state};
	const bool gone = ((struct fqp *)qp)->shared->gone;
	fake_unlock(f);
	*init = (struct ibv_qp_init_attr){.qp_type = IBV_QPT_RC};
	return gone ? EIO : mask == IBV_QP_STATE ? 0 : EINVAL; /* no other attribute is asked for */
}
