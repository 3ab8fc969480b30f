/* SPDX-License-Identifier: BSD-3-Clause */
/* One job of zipbench-p2p by one way: starts it, and reads its lines. */
#ifndef ZIPBENCH_P2P_P2P_JOB_H
#define ZIPBENCH_P2P_P2P_JOB_H

#include "common/base/err.h"
#include "zipbench/p2p/p2p_plan.h"
#include "zipbench/p2p/p2p_ways.h"

/* A line of the program. */
typedef void p2p_line(void *ctx, uint64_t bytes, const double value[P2P_QUANTITIES_MAX]);

/* Runs `program` by this way, waits for its end and hands on its lines; other output of the job goes to stderr. 0;
 * -ENOENT with text: the way cannot be had; another negative errno with text: the job failed, or printed no results. */
int p2p_job_run(const struct p2p_way *, const char *program, const struct p2p_bench *, const struct p2p_plan *,
	p2p_line *, void *ctx, struct zerr *);

#endif
