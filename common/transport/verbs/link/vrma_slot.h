/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations that are under way on one half of a link. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VRMA_SLOT_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VRMA_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#define VRMA_MAX 16 /* operations under way on a half */

struct vrma_slot {
	void *cookie;
	int rc;
	bool used, done, held; /* held: as in struct zrma_done */
};

/* Has an operation of this half ended that was not reported? */
static inline bool vrma_slot_any_done(const struct vrma_slot slot[VRMA_MAX], uint32_t under_way)
{
	for (int i = 0; i < VRMA_MAX && under_way; i++)
		if (slot[i].done)
			return true;
	return false;
}

#endif
