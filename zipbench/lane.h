/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: one for each thread, with what it needs to post messages and to take completions. Threads may share completion
 * queues and queue pairs; a completion is then credited to the lane whose it is, by whoever takes it, and room in a
 * queue pair is counted for all (endpoints paper, sections V-E and V-F). A lane is used by its thread.
 */
#ifndef ZIPBENCH_LANE_H
#define ZIPBENCH_LANE_H

#include <infiniband/verbs.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "zipbench/options.h"
#include "common/endpoint/ep_set.h"

#define LANE_LINE 128 /* pairs of cache lines are fetched together */
#define LANE_PATHS 2
#define LANE_POLL 64 /* completions taken at a time, at most */

struct room {
	alignas(LANE_LINE) _Atomic int left; /* messages that the queue pair may take */
};

struct lane {
	alignas(LANE_LINE) struct lanes *all;
	struct ibv_cq *cq;
	struct ibv_cq_ex *ex; /* cq, or NULL (common/transport/verbs/device/vcollect.h) */
	struct ibv_qp *qp[LANE_PATHS];
	struct room *room[LANE_PATHS];
	uint64_t posted;
	uint32_t quiet[LANE_PATHS]; /* messages since the last signalled one */
	unsigned index;
	bool shared_cq, shared_qp;
	alignas(LANE_LINE) _Atomic uint64_t done; /* messages */
};

struct lanes {
	struct lane *lane;
	struct room *room;
	unsigned n, poll; /* poll: completions asked for at a time */
	bool yields;
	_Atomic int status; /* of the first bad completion: enum ibv_wc_status; or a negative errno of posting */
};

/* For the queue pairs of a set; poll as above. 0 or -ENOMEM. */
int lanes_open(struct lanes *, const struct zep_set *, unsigned poll);
void lanes_close(struct lanes *);
/* Posts a linked list of n messages, waiting for room. The last one is signalled if `signal`, after every `unsignalled`
 * others too. 0, or -EIO: something has failed, see status. */
int lane_post(struct lane *, unsigned path, struct ibv_send_wr *, unsigned n, unsigned unsignalled, bool signal);
/* Until all of the lane's messages are done; the last one must have been signalled. */
int lane_wait(struct lane *);
/* The text for what went wrong, -EIO. */
int lanes_error(const struct lanes *, struct zerr *);

#endif
