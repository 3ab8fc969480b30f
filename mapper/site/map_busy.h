/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the slots that other jobs keep busy from the nodes of a site. */
#ifndef ZIP_MAPPER_MAP_BUSY_H
#define ZIP_MAPPER_MAP_BUSY_H

#include "common/base/err.h"
#include "mapper/base/busy.h"
#include "mapper/site/map_site.h"

/* The nodes that other jobs use. */
struct map_busy {
	uint32_t whole, partly; /* nodes that have no core left; some cores */
};

/* A node keeps a slot for each core that is not busy, and not more slots than it had. Where its cores are not known,
 * each busy core takes a slot. Nodes that the site does not have are left out, as the list may be that of a larger
 * machine. Classes are to be made anew. 0, or -EINVAL if the site has none of the nodes. */
int map_busy_apply(struct map_site *, const struct busy *, struct map_busy *, struct zerr *);

#endif
