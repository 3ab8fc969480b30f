/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking completions of a completion queue that was made for one thread alone. Only the calls for extended queues do
 * without its lock: ibv_poll_cq takes the lock all the same (mlx5, mlx4). The thread that the queue belongs to. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_COLLECT_H
#define ZIP_COMMON_TRANSPORT_VERBS_COLLECT_H

#include <errno.h>
#include <infiniband/verbs.h>

/* Reads the used fields of a completion; of a failed one, only its number and its status. */
static inline void vcollect_read(struct ibv_cq_ex *ex, struct ibv_wc *wc)
{
	*wc = (struct ibv_wc){.wr_id = ex->wr_id, .status = ex->status};
	if (ex->status != IBV_WC_SUCCESS)
		return;
	wc->opcode = ibv_wc_read_opcode(ex);
	wc->byte_len = ibv_wc_read_byte_len(ex);
	wc->wc_flags = ibv_wc_read_wc_flags(ex);
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		wc->imm_data = ibv_wc_read_imm_data(ex);
}

/* As ibv_poll_cq. ex: the same queue, if it is an extended one (made with IBV_WC_STANDARD_FLAGS at least), or NULL.
 * Takes one completion at a time, as Soft-RoCE loses one when ibv_next_poll finds no more (rdma-core, pull request 1617
 * of 2025). */
static inline int vcollect(struct ibv_cq *cq, struct ibv_cq_ex *ex, int n, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = {.comp_mask = 0};
	int got = 0;
	if (!ex)
		return ibv_poll_cq(cq, n, wc);
	while (got < n) {
		const int code = ibv_start_poll(ex, &attr);
		if (code != 0)
			return code == ENOENT ? got
					      : -1; /* drops the completions before it, as ibv_poll_cq of mlx5 does */
		vcollect_read(ex, &wc[got++]);
		ibv_end_poll(ex);
	}
	return got;
}

#endif
