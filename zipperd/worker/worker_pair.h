/* SPDX-License-Identifier: BSD-3-Clause */
/* Two workers for a pair of fabrics, one for each direction, and their threads. A pair of fabrics may have several such
 * pairs, which have nothing to do with each other. The pair must stay where it is in memory. Control thread. */
#ifndef ZIPPERD_WORKER_PAIR_H
#define ZIPPERD_WORKER_PAIR_H

#include "common/control/ctl.h"
#include "zipperd/worker/thread.h"

struct worker_pair {
	struct worker *worker[2];	/* from -> to, to -> from */
	struct worker_thread thread[2]; /* the second is not used where the workers share a thread */
	const char *fabric[2];		/* from, to */
	uint32_t number;
};

struct worker_params {
	const char *from, *to; /* fabrics; used until worker_pair_free */
	uint32_t number;       /* among the pairs of these fabrics, from 0 */
	uint32_t eager_bytes, frag_bytes;
	uint32_t piece_bytes; /* of one-sided transfers; 0: the fragment size of the transport */
	uint64_t staging_bytes;
	struct budget *budget;
	int control_fd;
	int64_t spin;	 /* idle polls before yielding; negative: by the number of cores */
	int64_t poll_ns; /* as worker_thread.poll_ns */
	bool shared;	 /* one thread for both directions */
};

/* Fewer cores than two ranks and two workers can use at a time. Measured on two cores with bench/forward, 8 bytes one
 * way over shm: 5.3 us with a thread for each direction, 4.1 us with one for both; a bare relay 3.9 us. */
#define WORKER_FEW_CORES 4

/* Makes both workers and starts their threads. 0 or a negative errno with text. */
int worker_pair_start(struct worker_pair *, const struct worker_params *, struct zerr *);
/* Ends the threads. All lanes must be back. */
void worker_pair_stop(struct worker_pair *);
/* The threads of all pairs have ended: the workers give up what they hold of each other. */
void worker_pair_drain(struct worker_pair *);
/* Frees the workers, after the drain of all pairs. */
void worker_pair_free(struct worker_pair *);
/* The fabrics of worker[i], its number, and its work so far. */
void worker_pair_tell(const struct worker_pair *, int i, struct zctl_worker_status *);
/* The worker's endpoint for links of this transport, made with the first of them. NULL with text. */
struct zendpoint *worker_pair_endpoint(struct worker *, const struct ztransport *, struct zerr *);

#endif
