/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A share: the common property of the links of one endpoint on one device, buffers, and the home of their queues. A
 * share stays for links to come, unless its device is lost (vdevice.h); then the share goes with its last user, so that
 * the device can come back. Everything belongs to the set-up thread, with the exception of `regions`.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VSHARE_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VSHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/transport/base/transport.h"
#include "common/transport/verbs/device/vmemory.h"
#include "common/transport/verbs/device/vobject.h"
#include "common/transport/verbs/device/vpass.h"
#include "common/transport/verbs/device/vpool.h"

struct vshare {
	struct vshare *next;
	struct zendpoint *endpoint;
	struct vhome home;
	unsigned place; /* of its device in the endpoint's memory */
	struct vpool *rx, *tx;
	struct vexposer *exposer; /* where the home has a protection domain of its own; NULL: not used yet */
	unsigned halves;	  /* of links, that use it */
	_Atomic unsigned regions; /* of the initiator's memory, registered in its home (vrma.c); by any thread */
};

struct zendpoint {
	pid_t pid;
	bool connects;	/* it has the links of `connect` alone, which are ours */
	bool accepts;	/* it has had links that others have made */
	unsigned links; /* if it connects: the number of links now */
	struct vshare *shares;
	struct vmemory memory;
	struct vpass pass; /* of the endpoint's thread */
};

/* One half of a link joins the share of its endpoint on this device, and leaves it. NULL: has not joined. */
int vshare_join(struct vshare **, struct zendpoint *, struct vdevice *, struct zerr *);
void vshare_leave(struct vshare *);
/* Destroys a share that nobody uses. */
void vshare_destroy(struct vshare *);
/* The pool for one half, with room for one more link. buffers: the number of shared ones, if the pool is made now. */
int vshare_pool(struct vpool **, struct vshare *, bool receiving, uint32_t buffers, struct zerr *);
/* Undoes vshare_pool. */
void vshare_leave_pool(struct vpool **, struct vshare *, bool receiving);
/* Destroys a receive queue that no link uses now and that lacks buffers: the next link makes it anew. NULL has no
 * effect. */
void vshare_renew(struct vshare *);
/* Registers the buffers of the endpoint with all its devices, as far as so much memory may be registered. To be called
 * when a link has all that it needs. Has no effect on an endpoint that only connects: nobody forwards there. */
void vshare_spread(struct vshare *);

#endif
