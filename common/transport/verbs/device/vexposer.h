/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The application's memory in one protection domain: registrations, which are kept where possible (vregcache.h), and
 * the free lists of exposures and pinned regions. vexpose.h has the one-sided operations that use them.
 *
 * Threads: any. All exposers share a lock, which is not held while the device is waited for.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VEXPOSER_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VEXPOSER_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/transport/base/transport.h"
#include "common/transport/verbs/device/vdevice.h"
#include "common/transport/verbs/device/vregcache.h"
#include "common/transport/verbs/device/vregion.h"

struct vexposer;

struct vexposure { /* of memory to the peer of one link, for one transfer */
	struct vexposure *next;
	enum zlink_half half;
	struct ibv_mw *mw; /* stays with the exposure in the free list; NULL where there are no windows */
	struct vreg *reg;  /* the kept registration to which mw is bound; NULL: mr is used */
	struct ibv_mr *mr; /* a registration for this transfer alone */
};

/* The exposer at this place, for a protection domain of the device. It is made when it is needed first. NULL: out of
 * memory. */
struct vexposer *vexposer_at(struct vexposer **at, const struct vdevice *, struct ibv_pd *);
/* The protection domain is about to go. NULL has no effect. */
void vexposer_close(struct vexposer *);
/* Does it keep registrations? */
bool vexposer_keeps(const struct vexposer *);

/* A kept registration that covers len bytes at base, only for our own device. Returns as vregcache_get. Only where the
 * exposer keeps registrations. */
int vexposer_get_reg(struct vexposer *, void *base, size_t len, struct vreg **);
void vexposer_put_reg(struct vexposer *, struct vreg *);
/* A registration for one transfer. Returns 0, -ENOMEM (as much as may be locked is locked), or another errno. */
int vexposer_reg_once(struct vexposer *, void *base, size_t len, int access, struct ibv_mr **);

/* An exposure, with a window where the exposer keeps registrations and the device has windows. NULL: out of memory. */
struct vexposure *vexposer_get(struct vexposer *);
void vexposer_put(struct vexposer *, struct vexposure *);
/* A region to be filled. NULL: out of memory. */
struct zregion *vexposer_get_region(struct vexposer *);
void vexposer_put_region(struct vexposer *, struct zregion *);

#endif
