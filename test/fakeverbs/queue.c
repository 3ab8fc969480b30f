/* SPDX-License-Identifier: BSD-3-Clause */
/* The data path of the fake: posting, carrying out, completions. The requests of a queue pair are carried out in their
 * order, by the thread that posts them; or, where one had to wait for a receive, by the thread that posts the receive.
 */
#define _GNU_SOURCE
#include "test/fakeverbs/objects.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define WAITS ((enum ibv_wc_status) - 1)
#define STALE 0xdb /* the byte that is read where the memory has left its place */
#define CHUNK 65536
#define WINDOW_MAX ((uint64_t)1 << 31) /* bytes, as of mlx5 */
#define HELD UINT64_MAX		       /* seen_ns: until the event */

/* --- completions --- */

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void wake(struct fake_cq *cq, int sock)
{
	cq->armed = FAKE_QUIET;
	cq->raised = true;
	sendto(sock, &cq->cookie, sizeof(cq->cookie), MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&cq->channel.sun,
		cq->channel.len);
}

static void complete(struct fake_fabric *f, int sock, const struct fake_qp *q, fake_at at, const struct fake_cqe *e)
{
	struct fake_cq *cq = fake_ptr(f, at);
	struct fake_cqe *ring = fake_ptr(f, cq->ring);
	if (cq->tail - cq->head == cq->size) {
		fake_complain(f, "a completion queue of %u overflows", cq->size);
		abort();
	}
	struct fake_cqe *to = &ring[cq->tail++ % cq->size];
	*to = *e;
	to->wc.qp_num = q->number;
	to->seen_ns = q->state == IBV_QPS_ERR || f->device[q->device].lag_us == 0
			      ? 0
			      : now_ns() + (uint64_t)f->device[q->device].lag_us * 1000;
	if (cq->armed == FAKE_ALL || (cq->armed == FAKE_ERRORS && e->wc.status != IBV_WC_SUCCESS))
		wake(cq, sock);
}

static void complete_send(struct fake_fabric *f, int sock, const struct fake_qp *q, const struct fake_swqe *w,
	enum ibv_wc_status status, uint32_t number)
{
	static const enum ibv_wc_opcode opcodes[] = {[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND,
		[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
		[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
		[IBV_WR_BIND_MW] = IBV_WC_BIND_MW};
	const struct fake_cqe e =
		{.wc = {.wr_id = w->wr_id, .status = status, .opcode = opcodes[w->opcode], .byte_len = w->total},
			.done = number + 1,
			.send = true};
	if (status != IBV_WC_SUCCESS || w->flags & IBV_SEND_SIGNALED)
		complete(f, sock, q, q->send_cq, &e);
}

/* Completions that were held back come now. */
static void hurry(struct fake_fabric *f, struct fake_cq *cq, int sock)
{
	struct fake_cqe *ring = fake_ptr(f, cq->ring);
	bool late = false;
	for (uint32_t i = cq->head; i != cq->tail; i++) {
		if (ring[i % cq->size].seen_ns == HELD)
			continue;
		late |= ring[i % cq->size].seen_ns > now_ns();
		ring[i % cq->size].seen_ns = 0;
	}
	if (cq->armed == FAKE_ALL && late)
		wake(cq, sock);
}

void fake_qp_error(struct fake_fabric *f, int sock, struct fake_qp *q)
{
	struct fake_swqe *sq = fake_ptr(f, q->sq);
	if (q->state == IBV_QPS_ERR || q->gone)
		return;
	q->state = IBV_QPS_ERR;
	q->waits = false;
	for (; q->next != q->tail; q->next++)
		complete_send(f, sock, q, &sq[q->next % q->depth], IBV_WC_WR_FLUSH_ERR, q->next);
	if (q->own_rq) {
		struct fake_rq *rq = fake_ptr(f, q->rq);
		struct fake_rwqe *ring = fake_ptr(f, rq->ring);
		for (; rq->head != rq->tail; rq->head++)
			complete(f, sock, q, q->recv_cq,
				&(struct fake_cqe){.wc = {.opcode = IBV_WC_RECV,
							   .wr_id = ring[rq->head % rq->size].wr_id,
							   .status = IBV_WC_WR_FLUSH_ERR}});
	}
	hurry(f, fake_ptr(f, q->send_cq), sock);
	hurry(f, fake_ptr(f, q->recv_cq), sock);
	if (!q->own_rq && !f->device[q->device].silent)
		fake_qp_event(f, sock, q, IBV_EVENT_QP_LAST_WQE_REACHED);
}

void fake_hold(struct fake_fabric *f, const struct fake_qp *q, bool hold)
{
	struct fake_cq *cq = fake_ptr(f, q->recv_cq);
	struct fake_cqe *ring = fake_ptr(f, cq->ring);
	for (uint32_t i = cq->head; i != cq->tail; i++)
		ring[i % cq->size].seen_ns = hold ? HELD : 0;
}

/* --- memory --- */

/* Copies between this process's memory and another's; one of the two is ours. false: the other memory is not there. */
static bool copy(pid_t to, uint64_t dst, pid_t from, uint64_t src, size_t len)
{
	const pid_t me = getpid();
	struct iovec d = {(void *)(uintptr_t)dst, len}, s = {(void *)(uintptr_t)src, len};
	if (to == me && from == me) {
		memmove(d.iov_base, s.iov_base, len);
		return true;
	}
	while (s.iov_len > 0) {
		ssize_t n = to == me ? process_vm_readv(from, &d, 1, &s, 1, 0) : process_vm_writev(to, &s, 1, &d, 1, 0);
		if (n <= 0)
			return false;
		s.iov_base = (char *)s.iov_base + n;
		d.iov_base = (char *)d.iov_base + n;
		s.iov_len -= (size_t)n;
		d.iov_len -= (size_t)n;
	}
	return true;
}

/* Copies the request's bytes to addr in process `to`; backwards: from there. local: of each piece, for its staleness.
 */
static bool move(struct fake_fabric *f, const struct fake_qp *q, const struct fake_swqe *w, pid_t to, uint64_t addr,
	const struct fake_key *remote, bool backwards)
{
	uint8_t garbage[CHUNK];
	if (remote && remote->stale) {
		/* The old pages, which nobody sees any more. */
		f->stale_used++;
		if (!backwards)
			return true;
		memset(garbage, STALE, sizeof(garbage));
		for (uint32_t i = 0; i < w->nsge; i++)
			for (uint32_t at = 0; at < w->sge[i].length; at += CHUNK)
				if (!copy(q->pid, w->sge[i].addr + at, getpid(), (uintptr_t)garbage,
					    w->sge[i].length - at < CHUNK ? w->sge[i].length - at : CHUNK))
					return false;
		return true;
	}
	if (w->flags & IBV_SEND_INLINE)
		return copy(to, addr, getpid(), (uintptr_t)w->bytes, w->total);
	for (uint32_t i = 0; i < w->nsge; addr += w->sge[i++].length) {
		bool good = backwards ? copy(q->pid, w->sge[i].addr, to, addr, w->sge[i].length)
				      : copy(to, addr, q->pid, w->sge[i].addr, w->sge[i].length);
		if (!good)
			return false;
	}
	return true;
}

/* --- the other end --- */

static bool same_partition(uint16_t a, uint16_t b)
{
	return (a & 0x7fff) == (b & 0x7fff) && (a & 0x7fff) != 0 && ((a | b) & 0x8000);
}

static bool has_gid(const struct fake_device *d, unsigned port, const uint8_t gid[16])
{
	const uint8_t *its;
	for (int i = 0; (its = fake_gid(d, port, i)); i++)
		if (memcmp(its, gid, 16) == 0)
			return true;
	return false;
}

/* NULL: nobody answers. */
static struct fake_qp *peer_of(struct fake_fabric *f, const struct fake_qp *q)
{
	const struct fake_port *port = &f->device[q->device].port[q->port - 1];
	struct fake_qp *p = &f->qp[q->peer % FAKE_QPS];
	if (!p->used || p->number != q->peer || p->peer != q->number || p->device != q->device || p->port != q->port)
		return NULL;
	if (p->v1 != q->v1 || (p->state != IBV_QPS_RTR && p->state != IBV_QPS_RTS) || p->gone)
		return NULL;
	if (port->state != IBV_PORT_ACTIVE || p->rq_psn != q->sq_psn)
		return NULL;
	if ((q->global && !has_gid(&f->device[q->device], q->port, q->dgid)) ||
		(f->device[q->device].ib && q->dlid != port->lid))
		return NULL;
	if (f->device[q->device].ib && !same_partition(port->pkey[q->pkey_index], port->pkey[p->pkey_index]))
		return NULL;
	return p->pid == getpid() || kill(p->pid, 0) == 0 ? p : NULL;
}

static void refuse(struct fake_fabric *f, int sock, struct fake_qp *p)
{
	fake_qp_event(f, sock, p, IBV_EVENT_QP_ACCESS_ERR);
	fake_qp_error(f, sock, p);
}

static enum ibv_wc_status send_to(struct fake_fabric *f, int sock, const struct fake_qp *q, struct fake_qp *p,
	const struct fake_swqe *w)
{
	struct fake_rq *rq = fake_ptr(f, p->rq);
	if (rq->head == rq->tail)
		return WAITS;
	const struct fake_rwqe r = ((struct fake_rwqe *)fake_ptr(f, rq->ring))[rq->head++ % rq->size];
	struct fake_cqe e = {.wc = {.wr_id = r.wr_id,
				     .opcode = IBV_WC_RECV,
				     .byte_len = w->total,
				     .src_qp = q->number,
				     .sl = q->sl,
				     .slid = f->device[q->device].port[q->port - 1].lid}};
	enum ibv_wc_status sent = IBV_WC_SUCCESS;
	const struct ibv_sge to = {.addr = r.addr, .length = r.len, .lkey = r.lkey};
	const struct fake_key *k =
		w->total ? fake_local(f, p, p->own_rq ? p->pd : rq->pd, &to, IBV_ACCESS_LOCAL_WRITE) : NULL;
	if (w->opcode == IBV_WR_SEND_WITH_IMM) {
		e.wc.wc_flags = IBV_WC_WITH_IMM;
		e.wc.imm_data = w->imm;
	}
	e.wc.status = (enum ibv_wc_status)fake_hit(f, FAKE_RECV);
	if (e.wc.status == IBV_WC_SUCCESS && w->total > r.len)
		e.wc.status = IBV_WC_LOC_LEN_ERR;
	if (e.wc.status == IBV_WC_SUCCESS && w->total && !k) {
		fake_complain(f, "a receive is for memory that is not registered for it");
		e.wc.status = IBV_WC_LOC_PROT_ERR;
	}
	if (e.wc.status == IBV_WC_SUCCESS && !move(f, q, w, p->pid, r.addr, k, false))
		return IBV_WC_RETRY_EXC_ERR;
	if (e.wc.status != IBV_WC_SUCCESS)
		sent = e.wc.status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
	complete(f, sock, p, p->recv_cq, &e);
	if (sent != IBV_WC_SUCCESS)
		fake_qp_error(f, sock, p);
	return sent;
}

static enum ibv_wc_status access_remote(struct fake_fabric *f, int sock, const struct fake_qp *q, struct fake_qp *p,
	const struct fake_swqe *w)
{
	const bool reads = w->opcode == IBV_WR_RDMA_READ;
	if (reads && (q->reads == 0 || p->peer_reads == 0))
		return IBV_WC_REM_INV_REQ_ERR;
	if (w->total == 0)
		return IBV_WC_SUCCESS;
	const struct fake_key *k = fake_remote(f, p, w->rkey, w->remote, w->total,
		reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE);
	if (!k) {
		refuse(f, sock, p);
		return IBV_WC_REM_ACCESS_ERR;
	}
	return move(f, q, w, p->pid, w->remote, k, reads) ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR;
}

static bool is_silent(const struct fake_fabric *f, const struct fake_qp *q)
{
	return f->silent == -1 || f->silent == q->pid;
}

static bool is_access(const struct fake_swqe *w)
{
	return w->opcode == IBV_WR_RDMA_READ || w->opcode == IBV_WR_RDMA_WRITE;
}

static bool is_kept(const struct fake_fabric *f, const struct fake_qp *q)
{
	return f->kept == -1 || f->kept == q->pid;
}

static enum ibv_wc_status carry_out(struct fake_fabric *f, int sock, struct fake_qp *q, const struct fake_swqe *w)
{
	const bool local = w->opcode == IBV_WR_BIND_MW || w->opcode == IBV_WR_LOCAL_INV;
	const bool sends = w->opcode == IBV_WR_SEND || w->opcode == IBV_WR_SEND_WITH_IMM;
	struct fake_qp *p = local ? NULL : peer_of(f, q);
	if (sends && p) {
		const struct fake_rq *rq = fake_ptr(f, p->rq);
		if (rq->head == rq->tail || is_silent(f, q))
			return WAITS; /* before a fault is taken for it */
	}
	if (p && is_access(w) && w->total > 0 && is_kept(f, q))
		return WAITS;
	int fault = fake_hit(f, local				? FAKE_LOCAL
				: sends				? FAKE_SEND
				: w->opcode == IBV_WR_RDMA_READ ? FAKE_READ
								: FAKE_WRITE);
	if (fault)
		return (enum ibv_wc_status)fault;
	for (uint32_t i = 0; !(w->flags & IBV_SEND_INLINE) && i < w->nsge && !local; i++)
		if (w->sge[i].length && !fake_local(f, q, q->pd, &w->sge[i],
						w->opcode == IBV_WR_RDMA_READ ? IBV_ACCESS_LOCAL_WRITE : 0)) {
			fake_complain(f, "a request is for memory that is not registered for it");
			return IBV_WC_LOC_PROT_ERR;
		}
	if (local)
		return w->opcode == IBV_WR_BIND_MW ? fake_bind(f, q, w) : fake_invalidate(f, q, w);
	if (!p)
		return IBV_WC_RETRY_EXC_ERR;
	return sends ? send_to(f, sock, q, p, w) : access_remote(f, sock, q, p, w);
}

/* Carries out the requests that can be carried out. */
static void advance(struct fake_fabric *f, int sock, struct fake_qp *q)
{
	struct fake_swqe *sq = fake_ptr(f, q->sq);
	const bool waited = q->waits;
	q->waits = false;
	while (q->state == IBV_QPS_RTS && !q->gone && q->next != q->tail) {
		struct fake_swqe *w = &sq[q->next % q->depth];
		enum ibv_wc_status status = carry_out(f, sock, q, w);
		if (status == WAITS) {
			/* a device would try again, after a time that delays all requests behind it */
			struct fake_rq *rq = fake_ptr(f, f->qp[q->peer % FAKE_QPS].rq);
			if (!waited && !is_silent(f, q) && !is_access(w))
				fake_complain(f, "a send finds no receive");
			q->waits = true;
			rq->waiting++;
			return;
		}
		complete_send(f, sock, q, w, status, q->next);
		q->next++;
		if (status != IBV_WC_SUCCESS)
			fake_qp_error(f, sock, q);
	}
}

/* Receives have come: senders that wait for them go on. */
static void go_on(struct fake_fabric *f, int sock, struct fake_rq *rq)
{
	if (rq->waiting == 0)
		return;
	rq->waiting = 0;
	for (uint32_t i = 0; i < f->nqps; i++) {
		struct fake_qp *q = &f->qp[i];
		if (q->used && q->waits && fake_ptr(f, f->qp[q->peer % FAKE_QPS].rq) == rq)
			advance(f, sock, q);
	}
}

void fake_silence(struct fake_fabric *f, int sock, pid_t pid)
{
	f->silent = pid;
	for (uint32_t i = 0; i < f->nqps && !pid; i++)
		if (f->qp[i].used)
			go_on(f, sock, fake_ptr(f, f->qp[i].rq));
}

void fake_keep(struct fake_fabric *f, int sock, pid_t pid)
{
	f->kept = pid;
	for (uint32_t i = 0; i < f->nqps && !pid; i++)
		if (f->qp[i].used && f->qp[i].waits)
			advance(f, sock, &f->qp[i]);
}

/* --- posting --- */

static int fill(struct fake_swqe *w, const struct ibv_send_wr *wr, uint32_t inline_bytes)
{
	*w = (struct fake_swqe){.wr_id = wr->wr_id,
		.opcode = wr->opcode,
		.flags = wr->send_flags,
		.imm = wr->imm_data,
		.nsge = (uint32_t)wr->num_sge};
	if (wr->num_sge > FAKE_SGES)
		return EINVAL;
	switch (wr->opcode) {
	case IBV_WR_BIND_MW:
		w->rkey = wr->bind_mw.rkey;
		w->value = wr->bind_mw.bind_info.mr->lkey;
		w->sge[0].addr = wr->bind_mw.bind_info.addr;
		w->remote = wr->bind_mw.bind_info.length;
		w->imm = wr->bind_mw.bind_info.mw_access_flags;
		w->nsge = 0;
		return w->remote > WINDOW_MAX ? EOPNOTSUPP : 0;
	case IBV_WR_LOCAL_INV:
		w->rkey = wr->invalidate_rkey;
		w->nsge = 0;
		return 0;
	case IBV_WR_RDMA_READ:
	case IBV_WR_RDMA_WRITE:
		w->remote = wr->wr.rdma.remote_addr;
		w->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		break;
	default:
		return EINVAL;
	}
	for (int i = 0; i < wr->num_sge; i++) {
		w->sge[i] = wr->sg_list[i];
		if (wr->send_flags & IBV_SEND_INLINE) {
			if (w->total + w->sge[i].length > inline_bytes)
				return EINVAL;
			memcpy(w->bytes + w->total, (void *)(uintptr_t)w->sge[i].addr, w->sge[i].length);
		}
		w->total += w->sge[i].length;
	}
	return 0;
}

/* Is there more than one thread here? */
static bool enter(struct fake_fabric *f, bool alone, atomic_flag *busy, const char *what)
{
	if (!alone)
		return false;
	if (atomic_flag_test_and_set(busy)) {
		fake_lock(f);
		fake_complain(f, "two threads at a time on a %s for one", what);
		fake_unlock(f);
		return false;
	}
	return true;
}

/* The queue pairs of a thread domain share a doorbell without a lock. FAKEVERBS_ONE_POSTER: threads do not even take
 * turns there, as a program with one thread for each domain may promise. */
static void check_poster(struct fake_fabric *f, struct fpd *pd)
{
	pid_t me = gettid(), first = 0;
	if (!getenv("FAKEVERBS_ONE_POSTER") || !pd->domain || atomic_compare_exchange_strong(&pd->poster, &first, me) ||
		first == me)
		return;
	fake_lock(f);
	fake_complain(f, "two threads post in a thread domain for one");
	fake_unlock(f);
}

int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct fqp *mine = (struct fqp *)qp;
	struct fake_fabric *f = fake_fabric();
	struct fake_qp *q = mine->shared;
	const int sock = qp->context->async_fd;
	struct fpd *pd = (struct fpd *)qp->pd;
	check_poster(f, pd);
	const bool alone = enter(f, pd->domain, &pd->busy, "thread domain");
	int code = 0;
	fake_lock(f);
	for (; wr && code == 0; wr = wr->next) {
		*bad = wr;
		code = fake_hit(f, FAKE_POST);
		if (code == 0 && q->state != IBV_QPS_RTS && q->state != IBV_QPS_ERR)
			code = EINVAL;
		if (code == 0 && q->tail - q->released == q->depth) {
			if (!q->gone)
				fake_complain(f, "a send queue of %u is full", q->depth);
			code = ENOMEM;
		}
		struct fake_swqe *w = (struct fake_swqe *)fake_ptr(f, q->sq) + q->tail % q->depth;
		if (code == 0)
			code = fill(w, wr, mine->inline_bytes);
		if (code != 0)
			break;
		q->tail++;
		if (q->state == IBV_QPS_ERR && !q->gone) {
			complete_send(f, sock, q, w, IBV_WC_WR_FLUSH_ERR, q->next++);
		} else if (!q->waits) {
			advance(f, sock, q);
		}
	}
	fake_unlock(f);
	if (alone)
		atomic_flag_clear(&pd->busy);
	return code;
}

static int post_receives(struct fake_rq *rq, int sock, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_fabric *f = fake_fabric();
	struct fake_rwqe *ring = fake_ptr(f, rq->ring);
	int code = 0;
	for (; wr && code == 0; wr = wr->next) {
		*bad = wr;
		code = fake_hit(f, FAKE_POST_RECV);
		if (code == 0 && rq->tail - rq->head == rq->size)
			code = ENOMEM;
		if (code == 0 && wr->num_sge > 1)
			code = EINVAL;
		if (code != 0)
			break;
		struct fake_rwqe *r = &ring[rq->tail++ % rq->size];
		*r = (struct fake_rwqe){.wr_id = wr->wr_id};
		if (wr->num_sge == 1)
			*r = (struct fake_rwqe){wr->wr_id, wr->sg_list->addr, wr->sg_list->length, wr->sg_list->lkey};
	}
	go_on(f, sock, rq);
	return code;
}

int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_fabric *f = fake_fabric();
	struct fake_qp *q = ((struct fqp *)qp)->shared;
	int code = 0;
	fake_lock(f);
	if (q->gone) {
		code = 0;
	} else if (q->state != IBV_QPS_ERR) {
		code = post_receives(fake_ptr(f, q->rq), qp->context->async_fd, wr, bad);
	} else {
		for (; wr; wr = wr->next)
			complete(f, qp->context->async_fd, q, q->recv_cq,
				&(struct fake_cqe){.wc = {.wr_id = wr->wr_id,
							   .opcode = IBV_WC_RECV,
							   .status = IBV_WC_WR_FLUSH_ERR}});
	}
	fake_unlock(f);
	return code;
}

int fake_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	int code = post_receives(fake_ptr(f, ((struct fsrq *)srq)->at), srq->context->async_fd, wr, bad);
	fake_unlock(f);
	return code;
}

/* --- looking --- */

/* With the lock held: the visible completions. -1: the queue has failed. */
static int take(struct fake_fabric *f, struct fcq *mine, int n, struct ibv_wc *wc)
{
	struct fake_cq *cq = fake_ptr(f, mine->at);
	struct fake_cqe *ring = fake_ptr(f, cq->ring);
	int got = 0;
	if (fake_hit(f, FAKE_POLL))
		return -1;
	while (got < n && cq->head != cq->tail) {
		struct fake_cqe *e = &ring[cq->head % cq->size];
		struct fake_qp *q = &f->qp[e->wc.qp_num % FAKE_QPS];
		if (e->seen_ns > 0 && e->seen_ns > now_ns())
			break;
		if (e->send && q->number == e->wc.qp_num)
			q->released = e->done;
		wc[got++] = e->wc;
		cq->head++;
	}
	return got;
}

int fake_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct fcq *mine = (struct fcq *)ibcq;
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	if (mine->single)
		fake_complain(f, "a completion queue for one thread is polled with its lock");
	int got = take(f, mine, n, wc);
	fake_unlock(f);
	return got;
}

static int show_next(struct ibv_cq_ex *ex)
{
	struct fcq *mine = (struct fcq *)(void *)ex;
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	const int got = take(f, mine, 1, &mine->now);
	fake_unlock(f);
	ex->wr_id = mine->now.wr_id;
	ex->status = mine->now.status;
	return got > 0 ? 0 : got < 0 ? EIO : ENOENT;
}

static int next_poll(struct ibv_cq_ex *ex)
{
	const int code = show_next(ex);
	if (code == ENOENT) {
		fake_lock(fake_fabric());
		fake_complain(fake_fabric(),
			"the end of a queue is found by ibv_next_poll: Soft-RoCE loses the next one");
		fake_unlock(fake_fabric());
	}
	return code;
}

static void end_poll(struct ibv_cq_ex *ex)
{
	struct fcq *mine = (struct fcq *)(void *)ex;
	if (mine->alone)
		atomic_flag_clear(&mine->busy);
	mine->alone = false;
}

static int start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr)
{
	struct fcq *mine = (struct fcq *)(void *)ex;
	if (attr->comp_mask)
		return EINVAL;
	const bool alone = enter(fake_fabric(), mine->single, &mine->busy, "completion queue");
	const int code = show_next(ex);
	mine->alone = alone;
	if (code != 0)
		end_poll(ex);
	return code;
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *ex)
{
	return ((struct fcq *)(void *)ex)->now.opcode;
}

static uint32_t read_byte_len(struct ibv_cq_ex *ex)
{
	return ((struct fcq *)(void *)ex)->now.byte_len;
}

static __be32 read_imm_data(struct ibv_cq_ex *ex)
{
	return ((struct fcq *)(void *)ex)->now.imm_data;
}

static unsigned read_wc_flags(struct ibv_cq_ex *ex)
{
	return ((struct fcq *)(void *)ex)->now.wc_flags;
}

void fake_extend_cq(struct ibv_cq_ex *ex)
{
	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_byte_len = read_byte_len;
	ex->read_imm_data = read_imm_data;
	ex->read_wc_flags = read_wc_flags;
}

int fake_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct fcq *mine = (struct fcq *)ibcq;
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	struct fake_cq *cq = fake_ptr(f, mine->at);
	int code = fake_hit(f, FAKE_NOTIFY);
	if (code == 0 && !cq->raised) {
		if (cq->armed == FAKE_QUIET || !solicited_only)
			cq->armed = solicited_only ? FAKE_ERRORS : FAKE_ALL;
		hurry(f, cq, ibcq->context->async_fd);
	}
	fake_unlock(f);
	return code;
}
