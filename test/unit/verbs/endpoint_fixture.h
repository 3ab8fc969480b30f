/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of endpoints: what plans take of the model of an mlx5 device, and a provider that lacks things. */
#ifndef ZIP_TEST_UNIT_ENDPOINT_FIXTURE_H
#define ZIP_TEST_UNIT_ENDPOINT_FIXTURE_H

#include "common/endpoint/account.h"
#include "common/endpoint/endpoint.h"
#include "common/endpoint/uarmodel.h"

#define THREADS 16 /* as in the paper, unless it says otherwise */

/* Builds it on a device of its own, and nothing of it stays. */
struct zaccount account_of(const struct zep_plan *);
struct zaccount account_of_category(enum zep_category);

/* The model behind refusals. */
struct fake_provider {
	int td_rc, cq_rc; /* what thread domains and completion queues of one thread are refused with; 0: not refused */
	int fail_at;	  /* the n-th creation fails with -EIO; 0: none */
	int made, alive;
	struct zep_ops ops;
};
extern struct fake_provider fake;
/* It lacks nothing again, and has no objects. */
const struct zep_ops *fake_ops(void);

#endif
