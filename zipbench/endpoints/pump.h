/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pumps: one for each thread, to post messages and to take completions. Threads may share completion queues and queue
 * pairs. A thread that takes the completion of another pump credits it to that pump. The room in a queue pair is
 * counted for all its pumps together (endpoints paper, sections V-E and V-F). A pump is used by its thread.
 */
#ifndef ZIPBENCH_ENDPOINTS_PUMP_H
#define ZIPBENCH_ENDPOINTS_PUMP_H

#include <infiniband/verbs.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "common/endpoint/ep_set.h"
#include "zipbench/endpoints/options.h"

#define PUMP_LINE 128 /* bytes: processors fetch cache lines in pairs */
#define PUMP_PATHS 2
#define PUMP_POLL 64 /* completions taken at a time, at most */

struct room {
	alignas(PUMP_LINE) _Atomic int left; /* messages that the queue pair can take now */
};

struct pump {
	alignas(PUMP_LINE) struct pumps *all;
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex; /* cq, or NULL (common/transport/verbs/device/vcollect.h) */
	struct ibv_qp *qp[PUMP_PATHS];
	struct room *room[PUMP_PATHS];
	uint64_t posted;
	uint32_t quiet[PUMP_PATHS]; /* messages since the last one that reports its completion */
	unsigned index;
	bool shared_cq, shared_qp;
	alignas(PUMP_LINE) _Atomic uint64_t done; /* messages that are complete */
};

struct pumps {
	struct pump *pump;
	struct room *room;
	unsigned n, poll; /* poll: completions to ask for at a time */
	bool yields;
	_Atomic int status; /* 0; enum ibv_wc_status of the first bad completion; or a negative errno of posting */
};

/* Pumps for the queue pairs of a set; poll as in struct pumps. 0 or -ENOMEM. */
int pump_open_all(struct pumps *, const struct zep_set *, unsigned poll);
void pump_close_all(struct pumps *);
/* Posts a linked list of n messages, and waits for room. If `signal`, the last one reports its completion, as one in
 * `unsignalled` does anyway. 0, or -EIO: something has failed, see pumps.status. */
int pump_post(struct pump *, unsigned path, struct ibv_send_wr *, unsigned n, unsigned unsignalled, bool signal);
/* Waits until all messages of the pump are done; the last one must have been signalled. 0 or -EIO. */
int pump_wait(struct pump *);
/* Fills the text for pumps.status. -EIO. */
int pump_error(const struct pumps *, struct zerr *);

#endif
