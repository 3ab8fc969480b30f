/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making and destroying the objects of libibverbs. Nothing else in the transport makes a completion queue, shared
 * receive queue or queue pair, so this module decides how threads share them. (vdevice.c opens contexts and makes
 * protection domains.) Set-up; one thread at a time per endpoint. Everything returns 0 or a negative errno with text.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VOBJECT_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VOBJECT_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/endpoint/ep_kept.h"
#include "common/endpoint/ep_seat.h"
#include "common/transport/verbs/device/vdevice.h"

struct vhome { /* where the queues of one thread on one device live */
	struct vdevice *dev;
	struct ibv_context *ctx; /* the device's, or one of the home's own: as the endpoint category says (ep_seat.h) */
	struct ibv_pd *pd;	 /* memory is registered with it */
	struct ibv_pd *domain;	 /* queue pairs are made in it: pd, or a parent domain of pd with a thread domain */
	int vector;		 /* the interrupt that completions raise, and so the core that is woken first */
	enum zep_category category;
	bool told;	      /* a note has told what the home has taken */
	struct zep_kept kept; /* what the home has made; `to` is the device's */
	struct zep_seat seat;
};

struct vqueue { /* the queue pair of one half, with a completion queue of its own for both directions */
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex;		  /* cq again, where it is an extended one without a lock; or NULL */
	struct ibv_comp_channel *channel; /* its descriptor does not block */
};

struct vqueue_size {
	uint32_t sends, receives; /* receives: 0 with a shared receive queue */
	uint32_t completions;
	uint32_t inline_bytes; /* the wish; becomes what the queue pair has */
};

int vobject_home_open(struct vhome *, struct vdevice *, enum zep_category, struct zerr *);
void vobject_home_close(struct vhome *);

int vobject_srq_create(struct ibv_srq **, const struct vhome *, uint32_t receives, struct zerr *);
/* With the first queue of a home, a note tells what the home has taken. */
int vobject_queue_create(struct vqueue *, struct vhome *, struct ibv_srq *, struct vqueue_size *, struct zerr *);
void vobject_queue_destroy(struct vqueue *);

#endif
