/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations over verbs: the table that transport.h describes, and what the halves know of it. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_RMA_H
#define ZIP_COMMON_TRANSPORT_VERBS_RMA_H

#include "common/transport/verbs/link.h"

struct vexposer;
struct vreg;

struct zregion { /* of the initiator's memory */
	struct ibv_mr *mr;
	struct vshare *share; /* reg: whose memory domain */
	/* pin: */
	struct vexposer *exposer;
	struct vreg *reg;     /* mr is a kept one's, or NULL */
	struct zregion *next; /* when free */
};

extern const struct zrma vrma;

/* Has an operation of this half ended that was not reported? */
static inline bool vrma_any_done(const struct vrma_slot slot[VRMA_MAX], uint32_t under_way)
{
	for (int i = 0; i < VRMA_MAX && under_way; i++)
		if (slot[i].done)
			return true;
	return false;
}

#endif
