/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoints of links (transport.h), and what the links of one endpoint have in common on one device: buffers, and the
 * home of their queues. It stays for the links to come, unless the device is lost (device.h): then it goes with the
 * last that uses it, so that the device can come back. Everything belongs to the set-up thread but `regions`.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_SHARE_H
#define ZIP_COMMON_TRANSPORT_VERBS_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/transport/base/transport.h"
#include "common/transport/verbs/memory.h"
#include "common/transport/verbs/objects.h"
#include "common/transport/verbs/pass.h"
#include "common/transport/verbs/pool.h"

struct vshare {
	struct vshare *next;
	struct zendpoint *endpoint;
	struct vhome home;
	unsigned place; /* of its device in the endpoint's memory */
	struct vpool *rx, *tx;
	struct vexposer *exposer; /* expose.c's, where the home has a PD of its own; NULL: not used yet */
	unsigned halves;	  /* of links */
	_Atomic unsigned regions; /* of the initiator's memory, registered in its home (rma.c); by any thread */
};

struct zendpoint {
	pid_t pid;
	bool connects;	/* links of ours alone, those of `connect` */
	bool accepts;	/* there have been links of others */
	unsigned links; /* connects: that there are */
	struct vshare *shares;
	struct vmemory memory;
	struct vpass pass; /* its thread's */
};

/* The half of a link joins those of its endpoint on this device, and leaves. NULL: has not joined. */
int vshare_join(struct vshare **, struct zendpoint *, struct vdevice *, struct zerr *);
void vshare_leave(struct vshare *);
/* The pool for one half, with room for one more link. buffers: shared ones, if it is made now. */
int vshare_pool(struct vpool **, struct vshare *, bool receiving, uint32_t buffers, struct zerr *);
/* As it was before. */
void vshare_leave_pool(struct vpool **, struct vshare *, bool receiving);
/* A receive queue that no link uses now, and that lacks buffers: the next one makes it anew. NULL has no effect. */
void vshare_renew(struct vshare *);
/* The buffers of its endpoint can go from any device to any other, as far as so much memory may be registered; once
 * the link has all that it needs. Where all links are made by us, nobody forwards. */
void vshare_spread(struct vshare *);

#endif
