/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ends of the looped-back port, which stand for two nodes of the paper: the endpoints that are measured, and plain
 * ones with the memory that is read and written. Set-up; one thread. */
#ifndef ZIPBENCH_ENDPOINTS_PAIR_H
#define ZIPBENCH_ENDPOINTS_PAIR_H

#include "zipbench/endpoints/port.h"
#include "common/endpoint/account.h"
#include "common/endpoint/ep_ibv.h"
#include "common/endpoint/ep_set.h"

struct pair {
	struct zep_ibv mine, theirs;
	struct zep_set set, far; /* far: the other end */
	uint8_t *target;	 /* the other end's memory */
	uint32_t rkey;
};

/* Builds and connects both ends. 0 or a negative errno with text, and nothing is left behind. */
int pair_open(struct pair *, const struct port *, const struct zep_plan *, size_t target_bytes, struct zerr *);
void pair_close(struct pair *);
/* Makes queue pairs as deep as all threads that share one need together. -EINVAL with text: the device has none so
 * deep. */
int pair_set_depth(struct zep_plan *, const struct port *, unsigned depth, struct zerr *);

#endif
