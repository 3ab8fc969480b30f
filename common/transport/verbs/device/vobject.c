/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of libibverbs, see vobject.h. */
#include "common/transport/verbs/device/vobject.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_ibv.h"
#include "common/transport/verbs/device/voptions.h"
#include "common/wire/wire.h"

static int fail(struct zerr *err, int code, const char *what, const struct vhome *h)
{
	return zerr_set(err, -code, "%s: cannot make %s: %s%s", h->dev->name, what, strerror(code), zep_ibv_hint(code));
}

static void unblock(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void tell_lack(const struct vdevice *dev, unsigned tds, const char *category)
{
	char text[160];
	snprintf(text, sizeof(text), "%s: no thread domains after %u of them: endpoints are static, not %s", dev->name,
		tds, category);
	if (voptions->note)
		voptions->note(text);
}

/* Each home takes the next vector. Each process begins elsewhere, as there are many on a host (ranks). */
static int choose_vector(const struct ibv_context *ctx)
{
	static _Atomic unsigned homes;
	const unsigned n = ctx->num_comp_vectors > 1 ? (unsigned)ctx->num_comp_vectors : 1;
	return (int)(((unsigned)getpid() + atomic_fetch_add(&homes, 1)) % n);
}

int vobject_home_open(struct vhome *h, struct vdevice *dev, enum zep_category category, struct zerr *err)
{
	static pthread_mutex_t seats = PTHREAD_MUTEX_INITIALIZER; /* of one device, as its thread domains are counted */
	memset(h, 0, sizeof(*h));
	h->dev = dev;
	h->category = category;
	h->kept = (struct zep_kept){.ops = &zep_ibv_ops, .to = &dev->ibv};
	pthread_mutex_lock(&seats);
	const bool lacked = dev->common.no_domains;
	int rc = zep_seat_join(&h->seat, category, &dev->common, &h->kept, err);
	const bool lacks = !lacked && dev->common.no_domains;
	const unsigned tds = dev->common.tds;
	pthread_mutex_unlock(&seats);
	if (rc < 0) {
		zep_kept_drop_all(&h->kept);
		return rc;
	}
	if (lacks)
		tell_lack(dev, tds, zep_category_names[category]);
	h->ctx = h->seat.ctx;
	h->pd = h->seat.pd;
	h->domain = h->seat.domain;
	h->vector = choose_vector(h->ctx);
	if (h->ctx != dev->ctx)
		unblock(h->ctx->async_fd);
	return 0;
}

void vobject_home_close(struct vhome *h)
{
	zep_kept_drop_all(&h->kept);
	memset(h, 0, sizeof(*h));
}

int vobject_srq_create(struct ibv_srq **srq, const struct vhome *h, uint32_t receives, struct zerr *err)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = receives, .max_sge = 1}};
	zep_ibv_ask();
	*srq = ibv_create_srq(h->pd, &attr);
	return *srq ? 0 : fail(err, zep_ibv_refusal(), "a shared receive queue", h);
}

static void tell_locks(struct vdevice *dev, int code)
{
	char text[160];
	if (!voptions->note || atomic_exchange(&dev->told_locks, true))
		return;
	snprintf(text, sizeof(text), "%s: no single-threaded completion queues (%s): with locks instead", dev->name,
		strerror(code));
	voptions->note(text);
}

/* Makes it without a lock, if the category has such queues and the provider can: one thread at a time uses it. */
static void create_cq(struct vqueue *q, const struct vhome *h, uint32_t depth)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = depth,
		.channel = q->channel,
		.comp_vector = (uint32_t)h->vector,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
	zep_ibv_ask();
	q->ex = h->seat.single ? ibv_create_cq_ex(h->ctx, &attr) : NULL;
	const int code = zep_ibv_refusal();
	zep_ibv_ask();
	q->cq = q->ex ? ibv_cq_ex_to_cq(q->ex) : ibv_create_cq(h->ctx, (int)depth, NULL, q->channel, h->vector);
	if (q->cq && !q->ex && h->seat.single)
		tell_locks(h->dev, code);
}

/* Tells what zipstat --endpoints predicts, in the same words, and where the first queue pair is, if the device tells.
 */
static void tell_taken(struct vhome *h, const struct vqueue *q)
{
	const struct zep_objects *made = h->kept.objects;
	struct zep_place place;
	char text[320], where[96] = "";
	if (h->told || !voptions->note)
		return;
	h->told = true;
	if (zep_ibv_ops.locate(h->kept.to, q->qp, &place) == 0)
		snprintf(where, sizeof(where), "; the first one's UAR page is %#" PRIx64 ", its uUAR %#" PRIx64,
			place.page, place.uuar);
	snprintf(text, sizeof(text),
		"%s: %s endpoint: CTXs %zu, PDs %zu, TDs %zu, parent domains %zu, beside the device's CTX and PD; a CQ "
		"and a QP for each half of a connection%s",
		h->dev->name, zep_category_names[h->category], made[ZEP_CTX].n, made[ZEP_PD].n, made[ZEP_TD].n,
		made[ZEP_PARENT].n, where);
	voptions->note(text);
}

/* Makes a queue pair with as much inline data as wanted, or as the device takes. The steps are what devices are known
 * to take (96: bnxt_re), and what messages of 8 bytes and empty ones need. */
static struct ibv_qp *create_qp(const struct vhome *h, struct ibv_qp_init_attr *attr, uint32_t *inline_bytes)
{
	static const uint32_t steps[] = {384, 256, 192, 128, 96, ZWIRE_ENV_BYTES + 8, ZWIRE_ENV_BYTES, 32, 0};
	const uint32_t *step = steps;
	for (;;) {
		attr->cap.max_inline_data = *inline_bytes;
		zep_ibv_ask();
		struct ibv_qp *qp = ibv_create_qp(h->domain, attr);
		if (qp || zep_ibv_refusal() != EINVAL || *inline_bytes == 0)
			return qp;
		while (*step >= *inline_bytes)
			step++;
		*inline_bytes = *step;
	}
}

int vobject_queue_create(struct vqueue *q, struct vhome *h, struct ibv_srq *srq, struct vqueue_size *size,
	struct zerr *err)
{
	memset(q, 0, sizeof(*q));
	zep_ibv_ask();
	q->channel = ibv_create_comp_channel(h->ctx);
	if (!q->channel)
		return fail(err, zep_ibv_refusal(), "a completion channel", h);
	unblock(q->channel->fd);
	create_cq(q, h, size->completions);
	if (!q->cq) {
		int code = zep_ibv_refusal();
		vobject_queue_destroy(q);
		return fail(err, code, "a completion queue", h);
	}
	struct ibv_qp_init_attr attr = {.send_cq = q->cq,
		.recv_cq = q->cq,
		.srq = srq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = size->sends,
			.max_recv_wr = srq ? 0 : size->receives,
			.max_send_sge = 2,
			.max_recv_sge = srq ? 0 : 1}};
	q->qp = create_qp(h, &attr, &size->inline_bytes);
	if (!q->qp) {
		int code = zep_ibv_refusal();
		vobject_queue_destroy(q);
		return fail(err, code, "a queue pair", h);
	}
	if (attr.cap.max_inline_data < size->inline_bytes)
		size->inline_bytes = attr.cap.max_inline_data;
	tell_taken(h, q);
	return 0;
}

void vobject_queue_destroy(struct vqueue *q)
{
	if (q->qp)
		ibv_destroy_qp(q->qp);
	if (q->cq)
		ibv_destroy_cq(q->cq);
	if (q->channel)
		ibv_destroy_comp_channel(q->channel);
	memset(q, 0, sizeof(*q));
}
