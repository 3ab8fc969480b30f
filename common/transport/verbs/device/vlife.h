/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lives of links depend on their device. A device tells of its end, of a port that is down and of a queue that has
 * failed by asynchronous events, and no completion may ever tell of that. So each link leaves a struct vlife with its
 * device, and the events are told to the links concerned.
 *
 * Adding and deleting are set-up; they take a lock, and so does an event. The threads of links look for events when
 * they have nothing better to do.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VLIFE_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VLIFE_H

#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct vdevice;

struct vlife { /* a link's part */
	struct vlife *next;
	uint8_t port;		     /* number of the device's port */
	int sock;		     /* TCP connection, which is shut down to wake the threads that sleep on the link */
	int64_t until_ms;	     /* the port is down, and may be down until then; 0: it is not down */
	_Atomic int lost;	     /* 0, or the negative errno with which the device has ended the link */
	_Atomic(struct ibv_qp *) qp; /* of the receive half, on a shared receive queue; NULL: not made yet */
	_Atomic(struct ibv_qp *) sender; /* of the send half */
	_Atomic bool last;		 /* `qp` is in its error state and takes no more receives */
};

void vlife_add(struct vdevice *, struct vlife *);
void vlife_del(struct vdevice *, struct vlife *);
/* Handles the events that have come, of the device's context or of a context that an endpoint has for itself.
 * ctx->async_fd is readable while there are events. */
void vlife_look(struct vdevice *, struct ibv_context *ctx);
/* Handles the device's timer: a port may have been down for too long. */
void vlife_look_at_ports(struct vdevice *);
/* A shared receive queue takes no receives any more, for this errno. The links that use it end, as after its event. */
void vlife_fail_receives(struct vdevice *, struct ibv_srq *, int code);
/* life->qp was put into its error state. Is the event still to come that says that all receives which the queue pair
 * has taken from the shared receive queue are in its completion queue (InfiniBand specification 1.3, 10.3.1;
 * ibv_get_async_event(3))? */
bool vlife_awaits_last(struct vdevice *, struct vlife *);
/* That event has not come in time. Nobody waits again for a device that has never told it; such devices exist. */
void vlife_lacks_last(struct vdevice *);

#endif
