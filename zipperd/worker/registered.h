/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One block of memory as one worker uses it for one-sided transfers: registered once with each domain of a device that
 * its links have. The memory may be the worker's own staging, or that of another worker whose pieces it writes; then
 * only the registrations are its own. Belongs to the worker's thread.
 */
#ifndef ZIPPERD_REGISTERED_H
#define ZIPPERD_REGISTERED_H

#include <stdbool.h>
#include <stdint.h>

#include "common/transport/base/transport.h"

#define REGISTERED_DOMAINS 16 /* of devices, per worker and block */

struct registered_domain {
	const void *domain;
	struct zregion *region;
	void (*unreg)(struct zregion *);
	bool (*is_lost)(const struct zregion *);
	uint32_t users; /* halves of links, or transfers, that are there */
	int error;	/* it could not be registered: not tried again until a half of a link leaves */
};

struct registered {
	uint8_t *memory; /* NULL: not known yet */
	uint64_t bytes;
	struct registered_domain domain[REGISTERED_DOMAINS];
	uint32_t ndomains;
};

/* One more user, by way of that half: *region is what its operations need. memory must be known. 0; -EOPNOTSUPP: the
 * link has no one-sided operations, or there are too many devices; others with text, the first time. */
int registered_admit(struct registered *, struct zlink *, enum zlink_half, struct zregion **region, struct zerr *);
/* A user that was admitted, with what it got, has no more operations. NULL: none was. */
void registered_leave(struct registered *, const struct zregion *region);
/* A half of a link leaves, after the user that it was: if its domain was refused, that is known no more, as the domain
 * may go with the half. */
void registered_forget(struct registered *, const struct zlink *, enum zlink_half);
/* All registrations go; the memory is not touched. */
void registered_fini(struct registered *);

#endif
