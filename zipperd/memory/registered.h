/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One block of memory as one worker uses it for one-sided transfers. The worker registers the block once with each
 * device domain of its links. The block is the worker's own staging memory, or that of another worker whose pieces this
 * worker writes. Only the registrations belong to this struct. Worker's thread.
 */
#ifndef ZIPPERD_REGISTERED_H
#define ZIPPERD_REGISTERED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/transport/base/transport.h"

#define REGISTERED_DOMAINS 16 /* device domains, per worker and block */

struct registered_domain {
	const void *domain;
	struct zregion *region;
	void (*unreg)(struct zregion *);
	bool (*is_lost)(const struct zregion *);
	uint32_t users; /* halves of links, or transfers, that joined */
	int error;	/* registration failed: not tried again until a half of a link leaves */
};

struct registered {
	uint8_t *memory; /* NULL: not known yet */
	uint64_t bytes;
	struct registered_domain domain[REGISTERED_DOMAINS];
	uint32_t ndomains;
};

/* Adds one user that works through this half of the link. *region is what its operations need. memory must be known.
 * Returns 0; -EOPNOTSUPP: the link has no one-sided operations, or there are too many domains; other errors, with text
 * the first time. */
int registered_join(struct registered *, struct zlink *, enum zlink_half, struct zregion **region, struct zerr *);
/* A user that joined has no more operations. region: what it got; NULL: it did not join. */
void registered_leave(struct registered *, const struct zregion *region);
/* A half of a link leaves, after its user. If registration with its domain failed, the failure is forgotten, because
 * the domain may go with the half. */
void registered_forget(struct registered *, const struct zlink *, enum zlink_half);
/* Undoes all registrations and leaves the memory alone. */
void registered_fini(struct registered *);

#endif
