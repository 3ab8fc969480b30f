/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and destroying the objects of libibverbs. Nothing else in the transport opens a device or makes a protection
 * domain, completion queue, shared receive queue or queue pair: how these are shared by the threads is decided here.
 * Set-up; one thread at a time per endpoint. Everything returns 0 or a negative errno with text.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_OBJECTS_H
#define ZIP_COMMON_TRANSPORT_VERBS_OBJECTS_H

#include <infiniband/verbs.h>

#include "common/base/err.h"
#include "common/endpoint/ep_kept.h"
#include "common/endpoint/ep_seat.h"
#include "common/transport/verbs/device.h"

/* Where the queues of one thread on one device live. */
struct vhome {
	struct vdevice *dev;
	struct ibv_context *ctx; /* the device's, or the home's own: as the endpoint category says (ep_seat.h) */
	struct ibv_pd *pd;	 /* memory is registered with it */
	struct ibv_pd *domain;	 /* queue pairs are made in it: pd, or a parent domain of it with a thread domain */
	int vector;		 /* which interrupt its completions raise, and so which core is woken first */
	enum zep_category category;
	bool told;	      /* what it takes */
	struct zep_kept kept; /* what it has made; `to` is the device's */
	struct zep_seat seat;
};

/* The queue pair of one half, with a completion queue of its own for both directions. */
struct vqueue {
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex;		  /* cq, where it is an extended one, without a lock; or NULL */
	struct ibv_comp_channel *channel; /* its descriptor does not block */
};

struct vqueue_size {
	uint32_t sends, receives; /* receives: 0 with a shared receive queue */
	uint32_t completions;
	uint32_t inline_bytes; /* wanted; filled with what there is */
};

/* The device by its name: its context and PD. */
int vobject_open(struct vdevice *, struct zerr *);
void vobject_close(struct vdevice *);

int vobject_home_open(struct vhome *, struct vdevice *, enum zep_category, struct zerr *);
void vobject_home_close(struct vhome *);

int vobject_srq_create(struct ibv_srq **, const struct vhome *, uint32_t receives, struct zerr *);
/* The first one of a home says what the home has taken. */
int vobject_queue_create(struct vqueue *, struct vhome *, struct ibv_srq *, struct vqueue_size *, struct zerr *);
void vobject_queue_destroy(struct vqueue *);

#endif
