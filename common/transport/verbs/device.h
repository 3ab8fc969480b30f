/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices: each is opened once (until it is lost), whatever uses it, and has one protection domain, so that ports of
 * one device share registered memory. Asynchronous events (a port stays down, the device goes away, a queue failed) are
 * told to the links concerned, of which no completion may.
 *
 * Opening, closing, adding and removing are set-up and take a lock; so does an event. Looking for events is for the
 * threads of the links, when they have nothing better to do.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_H

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/base/err.h"
#include "common/endpoint/ep_ibv.h"
#include "common/endpoint/ep_kept.h"
#include "common/endpoint/ep_seat.h"

#define VDEVICE_NAME_MAX 64

struct vexposer;
struct vlife; /* what a link leaves here to be told */

struct vdevice {
	struct vdevice *next;
	unsigned users;
	pid_t pid; /* who opened it: a child may not use it */
	char name[VDEVICE_NAME_MAX];
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct zep_ibv ibv;
	struct zep_kept kept;	   /* ctx and pd */
	struct zep_context common; /* them again, and how many thread domains were made in them */
	struct ibv_device_attr attr;
	struct vexposer *exposer; /* expose.c's, of pd; NULL: not used yet */
	struct vlife *lives;
	int timer;		  /* descriptor: readable when a port has been down for too long */
	atomic_flag looking;	  /* one thread reads events */
	_Atomic bool told_locks;  /* of completion queues with locks, where none are wanted */
	_Atomic bool told_limits; /* who connects: of whom its port does not reach */
	_Atomic bool lost;	  /* it went away, or part of it has failed: for those who have it, and no others */
	_Atomic bool tells_last,
		silent; /* of IBV_EVENT_QP_LAST_WQE_REACHED: it has come; it has not, where it had to */
};

/* The link's part. */
struct vlife {
	struct vlife *next;
	uint8_t port;
	int sock;			 /* is shut down, which wakes whoever sleeps on the link */
	int64_t until_ms;		 /* its port is down, and may be until then; 0: it is not */
	_Atomic int lost;		 /* 0, or the negative errno that the device's end is */
	_Atomic(struct ibv_qp *) qp;	 /* the receive half's, on a shared receive queue; NULL: not yet */
	_Atomic(struct ibv_qp *) sender; /* the send half's */
	_Atomic bool last;		 /* `qp` is in error and takes no more receives */
};

/* 0 or a negative errno with text. Every open needs its close. One that is lost is opened anew, beside what is left of
 * it; hold: this one once more. */
int vdevice_open(struct vdevice **, const char *name, struct zerr *);
void vdevice_hold(struct vdevice *);
/* In this process, and not lost. */
bool vdevice_is_open(const char *name);
void vdevice_close(struct vdevice *);
static inline bool vdevice_is_lost(const struct vdevice *d)
{
	return atomic_load_explicit(&d->lost, memory_order_acquire);
}

void vdevice_add(struct vdevice *, struct vlife *);
void vdevice_del(struct vdevice *, struct vlife *);
/* Handles the events that are there, of the device's context or of one that an endpoint has for itself. ctx->async_fd
 * is readable while there are any. */
void vdevice_look(struct vdevice *, struct ibv_context *ctx);
/* This queue is of no use any more, for this errno: the links that have it end, as where its event says so. */
void vdevice_fail_receives(struct vdevice *, struct ibv_srq *, int code);
/* The timer has said that a port may have been down for too long. */
void vdevice_look_at_ports(struct vdevice *);
/* After life->qp was put into its error state: is it still to be told that what it has taken from the shared receive
 * queue is in its completion queue (InfiniBand specification 1.3, 10.3.1; ibv_get_async_event(3))? */
bool vdevice_awaits_last(struct vdevice *, struct vlife *);
/* It was not told in time. A device that has never told anybody is not waited for again: there are such. */
void vdevice_lacks_last(struct vdevice *);

#endif
