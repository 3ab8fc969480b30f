/* SPDX-License-Identifier: BSD-3-Clause */
/* For the tests of endpoints: the resources that plans take of the model of an mlx5 device, and a provider that lacks
 * things. */
#ifndef ZIP_TEST_UNIT_ENDPOINT_FIXTURE_H
#define ZIP_TEST_UNIT_ENDPOINT_FIXTURE_H

#include "common/endpoint/account.h"
#include "common/endpoint/endpoint.h"
#include "common/endpoint/uarmodel.h"

#define THREADS 16 /* as in the paper, unless a comment says otherwise */

/* Builds a plan on a device of its own, of which nothing stays. */
struct zaccount account_of(const struct zep_plan *);
struct zaccount account_of_category(enum zep_category);

/* The model behind refusals. */
struct fake_provider {
	int td_rc, cq_rc; /* the errno with which thread domains and single-threaded completion queues are refused; 0:
			     they are not */
	int fail_at;	  /* the n-th creation fails with -EIO; 0: none */
	int made, alive;
	struct zep_ops ops;
};
extern struct fake_provider fake;
/* It lacks nothing again, and has no objects. */
const struct zep_ops *fake_ops(void);

#endif
