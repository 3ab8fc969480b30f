/* SPDX-License-Identifier: BSD-3-Clause */
/* The surroundings of libzip in a rank of the simulation. */
#ifndef ZIP_TEST_UNIT_FAILOVER_SIM_AROUND_H
#define ZIP_TEST_UNIT_FAILOVER_SIM_AROUND_H

#include "test/unit/libzip/failover_sim_rank.h"

extern struct sim_outside outside;
extern int me; /* vrank */

void around_come_back(int rail); /* its session is there again */
void around_begin(const struct sim_world *, const struct sim_outside *, int vrank);

#endif
