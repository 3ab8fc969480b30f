/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The send queue of a link: work requests go to the device in lists, completions and credit come back. The send half's
 * thread.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VTX_QUEUE_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VTX_QUEUE_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "common/transport/verbs/device/voptions.h"
#include "common/transport/verbs/link/vlink.h"
#include "common/transport/verbs/link/vtag.h"

int vtx_queue_init(struct vlink *, struct zerr *);
void vtx_queue_fini(struct vlink *);
/* Hands the list to the device. Returns 0, or why the half cannot go on. */
int vtx_queue_ring(struct vlink *);
/* Takes completions and credit. Returns 0, or why the half is broken. */
int vtx_queue_reap(struct vlink *);

/* Has the send queue room for one more message? */
static inline bool vtx_queue_has_slot(const struct vtx *tx)
{
	return tx->tail - tx->head < tx->depth - VRMA_MAX - 1;
}

/* May this link take a buffer? It has some of its own; beyond those it may take as many as it leaves to others. */
static inline bool vtx_queue_may_have_buffer(const struct vtx *tx)
{
	int32_t beyond = (int32_t)tx->held - VPOOL_OWN;
	return tx->pool->free && (beyond < 0 || beyond < tx->pool->shared);
}

/* Adds a work request to the list, for the caller to fill. The queue must have room. */
static inline struct ibv_send_wr *vtx_queue_next(struct vlink *l, struct ibv_sge **sge)
{
	struct vtx *tx = &l->tx;
	if (tx->list == (uint32_t)voptions->post_list)
		vtx_queue_ring(l);
	uint32_t i = tx->list++;
	if (i > 0)
		tx->wr[i - 1].next = &tx->wr[i];
	*sge = &tx->sge[i];
	tx->wr[i] =
		(struct ibv_send_wr){.sg_list = &tx->sge[i], .num_sge = 1, .wr_id = vtag_make(VTAG_SEND, tx->tail, 0)};
	tx->slot[tx->tail++ & tx->slot_mask] = NULL;
	return &tx->wr[i];
}

#endif
