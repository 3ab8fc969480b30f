/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the initiator of one-sided operations, registered with a device (struct zrma in transport.h). */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VREGION_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VREGION_H

#include <infiniband/verbs.h>

struct vexposer;
struct vreg;
struct vshare;

struct zregion {
	struct ibv_mr *mr;
	struct vshare *share; /* whose memory domain it is in */
	/* only of pinned memory: */
	struct vexposer *exposer;
	struct vreg *reg;     /* the kept registration that mr belongs to, or NULL */
	struct zregion *next; /* in the free list */
};

#endif
