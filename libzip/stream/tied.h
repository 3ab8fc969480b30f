/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends of one message to several ranks (multicast.h) that go together: as long as they are tied, their fragments are
 * posted once, by the carrier, as far as all receivers have granted. A ZTRANSFER_LISTED send goes by the carrier, too,
 * but alone: the fragments of one transfer stay in order. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_TIED_H
#define ZIP_LIBZIP_TIED_H

#include <stdbool.h>
#include <stdint.h>

struct zop;

struct ztied {
	/* The sends that wait to be posted together (ZTRANSFER_HELD), nheld of them, each the first of its receiver.
	 * Large messages: also the sends that go on together. */
	struct zop **op; /* [n] */
	int n, nheld;
	bool large;	/* they are transfers, and go on together after they have been posted */
	uint64_t moved; /* bytes of the fragments that were posted for all of them */
};

/* Bytes that may be sent now for this operation, and those that are tied to it. */
uint64_t ztied_sendable(const struct zop *);
/* The receiver of this operation, which is tied, has granted more. */
void ztied_granted(struct zop *);
/* Posts one fragment, of at most len bytes, to all receivers that it is for; it is not ZTRANSFER_ALONE. 0 or
 * -EAGAIN. */
int ztied_post_data(struct zop *, uint64_t len);
/* Unties the operation: it is over, or goes on alone. */
void ztied_part(struct zop *);

#endif
