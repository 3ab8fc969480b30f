/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of the fake in this process, behind those of libibverbs that the caller sees. */
#ifndef ZIP_TEST_FAKEVERBS_OBJECTS_H
#define ZIP_TEST_FAKEVERBS_OBJECTS_H

#include <stdatomic.h>
#include <stddef.h>

#include "test/fakeverbs/fabric.h"

struct fcontext {
	struct fake_fabric *fabric;
	struct fake_device *dev;
	uint32_t index; /* in fabric.context */
	unsigned users, tds;
	struct verbs_context verbs; /* its last member is the object that the caller sees */
};

struct fpd {
	struct ibv_pd pd;
	struct fpd *of;	      /* a parent domain's; otherwise NULL */
	bool domain;	      /* with a thread domain */
	atomic_flag busy;     /* a thread posts in it */
	_Atomic pid_t poster; /* the thread that did first; 0: none yet */
	unsigned users;
};

struct fchannel {
	struct ibv_comp_channel channel;
	struct fake_address address;
	unsigned users;
};

struct fcq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex ex; /* begins in the same way */
	};
	fake_at at;
	bool single, alone; /* alone: while it is polled as an extended queue, that busy is ours */
	struct ibv_wc now;  /* shown meanwhile */
	atomic_flag busy;
	unsigned users, events, acked;
};

struct fsrq {
	struct ibv_srq srq;
	fake_at at;
	unsigned users;
};

struct fqp {
	struct ibv_qp qp;
	struct fake_qp *shared;
	uint32_t inline_bytes;
};

static inline struct fcontext *fcontext_of(struct ibv_context *c)
{
	return (struct fcontext *)(void *)((char *)c - offsetof(struct fcontext, verbs) -
					   offsetof(struct verbs_context, context));
}

/* Its device has gone: nothing can be asked of it or made in it. */
static inline bool fcontext_is_lost(struct ibv_context *c)
{
	const struct fcontext *f = fcontext_of(c);
	return f->fabric->context[f->index].lost;
}

/* Memory is known to this domain. */
static inline struct fpd *fpd_base(struct ibv_pd *pd)
{
	struct fpd *p = (struct fpd *)pd;
	return p->of ? p->of : p;
}

/* objects.c: a datagram socket with a name of its own; and the table of a context. */
int fake_socket(struct fake_address *);
struct ibv_cq_ex *fake_create_cq_ex(struct ibv_context *, struct ibv_cq_init_attr_ex *);

/* queue.c: the operations of the data path. */
int fake_post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
int fake_post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
int fake_post_srq_recv(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
int fake_poll_cq(struct ibv_cq *, int n, struct ibv_wc *);
/* The calls for an extended one. */
void fake_extend_cq(struct ibv_cq_ex *);
int fake_req_notify_cq(struct ibv_cq *, int solicited_only);
/* With the lock held. The queue pair is in error: its requests are flushed. sock: to tell by. */
void fake_qp_error(struct fake_fabric *, int sock, struct fake_qp *);
/* Its completions are not shown, or are again. */
void fake_hold(struct fake_fabric *, const struct fake_qp *, bool);

/* memory.c. With the lock held: is registered memory kept from children? */
bool fake_fork_ready(const struct fake_fabric *);
struct ibv_mw *fake_alloc_mw(struct ibv_pd *, enum ibv_mw_type);
int fake_dealloc_mw(struct ibv_mw *);
/* With the lock held: the region or window of this key, if it gives that access to these bytes; otherwise NULL. */
struct fake_key *fake_local(struct fake_fabric *, const struct fake_qp *, uint64_t pd, const struct ibv_sge *,
	unsigned access);
struct fake_key *fake_remote(struct fake_fabric *, const struct fake_qp *owner, uint32_t rkey, uint64_t addr,
	uint64_t len, unsigned access);
/* IBV_WR_BIND_MW and IBV_WR_LOCAL_INV. */
enum ibv_wc_status fake_bind(struct fake_fabric *, const struct fake_qp *, const struct fake_swqe *);
enum ibv_wc_status fake_invalidate(struct fake_fabric *, const struct fake_qp *, const struct fake_swqe *);

#endif
