/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices of the fake: their list, contexts, attributes, domains, asynchronous events. */
#include "test/fakeverbs/objects.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define READS 16

/* --- the list --- */

static struct ibv_device known[FAKE_DEVICES];

EXPORT struct ibv_device **ibv_get_device_list(int *n)
{
	struct fake_fabric *f = fake_fabric();
	struct ibv_device **list = f ? calloc(FAKE_DEVICES + 1, sizeof(struct ibv_device *)) : NULL;
	for (uint32_t i = 0; list && i < f->ndevices; i++) {
		known[i].node_type = f->device[i].iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
		known[i].transport_type = f->device[i].iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
		snprintf(known[i].name, sizeof(known[i].name), "%s", f->device[i].name);
		list[i] = &known[i];
	}
	if (list && n)
		*n = (int)f->ndevices;
	return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

/* --- domains --- */

static struct ibv_pd *make_pd(struct ibv_context *ctx, enum fake_point point, struct fpd *of, bool domain)
{
	struct fake_fabric *f = fake_fabric();
	struct fpd *p = calloc(1, sizeof(*p));
	fake_lock(f);
	int code = !p ? ENOMEM : fcontext_is_lost(ctx) ? EIO : fake_hit(f, point);
	if (code == 0) {
		*p = (struct fpd){.pd = {.context = ctx}, .of = of, .domain = domain};
		fcontext_of(ctx)->users++;
		if (of)
			of->users++;
	}
	fake_unlock(f);
	if (code == 0)
		return &p->pd;
	free(p);
	errno = code;
	return NULL;
}

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	return make_pd(ctx, FAKE_PD, NULL, false);
}

static struct ibv_pd *alloc_parent(struct ibv_context *ctx, struct ibv_parent_domain_init_attr *a)
{
	return make_pd(ctx, FAKE_PD, (struct fpd *)a->pd, a->td != NULL);
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct fpd *p = (struct fpd *)pd;
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	if (p->users > 0) {
		fake_complain(f, "a protection domain with %u users is destroyed", p->users);
		fake_unlock(f);
		return EBUSY;
	}
	if (p->of)
		p->of->users--;
	fcontext_of(pd->context)->users--;
	fake_unlock(f);
	free(p);
	return 0;
}

static struct ibv_td *alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *a)
{
	struct fake_fabric *f = fake_fabric();
	struct fcontext *c = fcontext_of(ctx);
	struct ibv_td *td = calloc(1, sizeof(*td));
	(void)a;
	fake_lock(f);
	int code = !td			   ? ENOMEM
		   : fcontext_is_lost(ctx) ? EIO
		   : c->dev->tds == 0	   ? EOPNOTSUPP
		   : c->tds == c->dev->tds ? ENOMEM
					   : fake_hit(f, FAKE_TD);
	if (code == 0) {
		td->context = ctx;
		c->tds++;
		c->users++;
	}
	fake_unlock(f);
	if (code == 0)
		return td;
	free(td);
	errno = code;
	return NULL;
}

static int dealloc_td(struct ibv_td *td)
{
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	fcontext_of(td->context)->tds--;
	fcontext_of(td->context)->users--;
	fake_unlock(f);
	free(td);
	return 0;
}

/* --- attributes --- */

EXPORT int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *a)
{
	const struct fake_device *d = fcontext_of(ctx)->dev;
	*a = (struct ibv_device_attr){.vendor_id = 0xfa4e,
		.max_qp = FAKE_QPS,
		.max_qp_wr = 16384,
		.max_sge = FAKE_SGES,
		.max_cqe = 1 << 20,
		.max_mr = FAKE_KEYS,
		.max_qp_rd_atom = READS,
		.max_qp_init_rd_atom = READS,
		.max_srq = d->srq_max ? 65536 : 0,
		.max_srq_wr = (int)d->srq_max,
		.max_srq_sge = 1,
		.phys_port_cnt = (uint8_t)d->ports,
		.device_cap_flags = d->windows ? IBV_DEVICE_MEM_WINDOW_TYPE_2B : 0};
	return 0;
}

static int gids(const struct fake_device *d, unsigned port)
{
	int n = 0;
	while (fake_gid(d, port, n))
		n++;
	return n;
}

static int query_port(struct ibv_context *ctx, uint8_t number, struct ibv_port_attr *a, size_t len)
{
	const struct fake_device *d = fcontext_of(ctx)->dev;
	if (number < 1 || number > d->ports || len < sizeof(*a))
		return EINVAL;
	if (fcontext_is_lost(ctx))
		return EIO;
	*a = (struct ibv_port_attr){.state = d->port[number - 1].state,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096,
		.gid_tbl_len = gids(d, number),
		.pkey_tbl_len = FAKE_PKEYS,
		.max_msg_sz = 1u << 30,
		.lid = d->ib ? d->port[number - 1].lid : 0,
		.flags = d->grh ? IBV_QPF_GRH_REQUIRED : 0,
		.link_layer = d->ib ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET};
	return 0;
}

EXPORT int ibv_query_gid(struct ibv_context *ctx, uint8_t number, int index, union ibv_gid *gid)
{
	const struct fake_device *d = fcontext_of(ctx)->dev;
	const uint8_t *its = fake_gid(d, number, index);
	if (!its)
		return -1;
	memcpy(gid->raw, its, 16);
	return 0;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *ctx, uint32_t number, uint32_t index, struct ibv_gid_entry *entry,
	uint32_t flags, size_t size)
{
	if (flags || size < sizeof(*entry) || number > FAKE_PORTS)
		return EINVAL;
	*entry = (struct ibv_gid_entry){.gid_index = index,
		.port_num = number,
		.gid_type = fcontext_of(ctx)->dev->ib		      ? IBV_GID_TYPE_IB
			    : fcontext_of(ctx)->dev->v1 && index == 0 ? IBV_GID_TYPE_ROCE_V1
								      : IBV_GID_TYPE_ROCE_V2};
	return ibv_query_gid(ctx, (uint8_t)number, (int)index, &entry->gid) == 0 ? 0 : ENODATA;
}

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
	size_t size)
{
	const struct fake_device *d = fcontext_of(ctx)->dev;
	size_t n = 0;
	for (uint32_t p = 1; p <= (uint32_t)d->ports; p++)
		for (uint32_t i = 0; i < (uint32_t)gids(d, p); i++, n++)
			if (n == max || _ibv_query_gid_ex(ctx, p, i, &entries[n], flags, size) != 0)
				return -EINVAL;
	return (ssize_t)n;
}

EXPORT int ibv_query_pkey(struct ibv_context *ctx, uint8_t number, int index, __be16 *pkey)
{
	const struct fake_device *d = fcontext_of(ctx)->dev;
	if (number < 1 || number > d->ports || index < 0 || index >= FAKE_PKEYS)
		return -1;
	*pkey = htons(d->port[number - 1].pkey[index]);
	return 0;
}

/* --- asynchronous events --- */

static bool is_of_qp(enum ibv_event_type type)
{
	return type == IBV_EVENT_QP_LAST_WQE_REACHED || type == IBV_EVENT_QP_ACCESS_ERR ||
	       type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_CQ_ERR ||
	       type == IBV_EVENT_SRQ_ERR;
}

/* An event of a completion queue or a shared receive queue is that of the queue pair. After the last event the
 * completions before it are shown. */
static bool find_qp(struct ibv_async_event *event, uint32_t number)
{
	struct fake_fabric *f = fake_fabric();
	fake_lock(f);
	struct fake_qp *q = &f->qp[number % FAKE_QPS];
	const bool found = q->used && q->number == number;
	if (found) {
		struct ibv_qp *qp = &((struct fqp *)(uintptr_t)q->cookie)->qp;
		if (event->event_type == IBV_EVENT_CQ_ERR)
			event->element.cq = qp->send_cq;
		else if (event->event_type == IBV_EVENT_SRQ_ERR)
			event->element.srq = qp->srq;
		else
			event->element.qp = qp;
		if (event->event_type == IBV_EVENT_QP_LAST_WQE_REACHED)
			fake_hold(f, q, false);
	}
	fake_unlock(f);
	return found;
}

EXPORT int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *event)
{
	int word[2];
	do {
		if (recv(ctx->async_fd, word, sizeof(word), 0) != sizeof(word))
			return -1;
		*event = (struct ibv_async_event){.event_type = (enum ibv_event_type)word[0],
			.element.port_num = word[1]};
	} while (is_of_qp(event->event_type) && !find_qp(event, (uint32_t)word[1])); /* it has gone */
	return 0;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}

/* --- contexts --- */

static const struct ibv_context_ops operations = {
	.alloc_mw = fake_alloc_mw,
	.dealloc_mw = fake_dealloc_mw,
	.poll_cq = fake_poll_cq,
	.req_notify_cq = fake_req_notify_cq,
	.post_srq_recv = fake_post_srq_recv,
	.post_send = fake_post_send,
	.post_recv = fake_post_recv,
};

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_fabric *f = fake_fabric();
	struct fcontext *c = calloc(1, sizeof(*c));
	uint32_t i = 0;
	fake_lock(f);
	int code = c ? fake_hit(f, FAKE_OPEN) : ENOMEM;
	if (f->old_fork && !fake_fork_ready(f))
		fake_complain(f, "a device is opened, and what is registered can go with a child");
	while (code == 0 && i < FAKE_CONTEXTS && f->context[i].pid)
		i++;
	if (code == 0 && i == FAKE_CONTEXTS)
		code = ENOSPC;
	if (code == 0 && (c->verbs.context.async_fd = fake_socket(&f->context[i].async)) < 0)
		code = errno;
	if (code != 0) {
		fake_unlock(f);
		free(c);
		errno = code;
		return NULL;
	}
	f->context[i].device = (uint8_t)(device - known);
	f->context[i].pid = getpid();
	f->context[i].lost = false;
	c->fabric = f;
	c->index = i;
	c->dev = &f->device[device - known];
	c->verbs.sz = sizeof(c->verbs);
	c->verbs.query_port = query_port;
	c->verbs.create_cq_ex = fake_create_cq_ex;
	if (c->dev->tds > 0) { /* a provider without them has no function */
		c->verbs.alloc_td = alloc_td;
		c->verbs.dealloc_td = dealloc_td;
		c->verbs.alloc_parent_domain = alloc_parent;
	}
	c->verbs.context.device = device;
	c->verbs.context.ops = operations;
	c->verbs.context.cmd_fd = -1;
	c->verbs.context.num_comp_vectors = FAKE_VECTORS;
	c->verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	fake_unlock(f);
	return &c->verbs.context;
}

EXPORT int ibv_close_device(struct ibv_context *ctx)
{
	struct fcontext *c = fcontext_of(ctx);
	fake_lock(c->fabric);
	if (c->users > 0)
		fake_complain(c->fabric, "a device with %u users is closed", c->users);
	c->fabric->context[c->index].pid = 0;
	fake_unlock(c->fabric);
	close(ctx->async_fd);
	free(c);
	return 0;
}
