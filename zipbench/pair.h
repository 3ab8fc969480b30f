/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints that are measured, and at the other end of the looped-back port plain ones with the memory that is read and
 * written: what two nodes are in the paper. Set-up; one thread. */
#ifndef ZIPBENCH_PAIR_H
#define ZIPBENCH_PAIR_H

#include "zipbench/port.h"
#include "common/endpoint/account.h"
#include "common/endpoint/ep_ibv.h"
#include "common/endpoint/ep_set.h"

struct pair {
	struct zep_ibv mine, theirs;
	struct zep_set set, peer;
	uint8_t *target; /* the peer's memory */
	uint32_t rkey;
};

/* 0 or a negative errno with text and nothing left behind. */
int pair_open(struct pair *, const struct port *, const struct zep_plan *, size_t target_bytes, struct zerr *);
void pair_close(struct pair *);
/* Queue pairs as deep as all who share one need together. -EINVAL with text where the device has none so deep. */
int pair_set_depth(struct zep_plan *, const struct port *, unsigned depth, struct zerr *);

#endif
