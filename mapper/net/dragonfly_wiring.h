/* SPDX-License-Identifier: BSD-3-Clause */
/* Which routers the level-2 links of a dragonfly connect: by a rule, or by a file. */
#ifndef ZIP_MAPPER_DRAGONFLY_WIRING_H
#define ZIP_MAPPER_DRAGONFLY_WIRING_H

#include "mapper/net/dragonfly.h"

/* Fills gates, far, bundle and ports from the keys "wiring", "wiring-file" and "global". 0 or a negative errno with the
 * reason. */
int dragonfly_wiring_make(struct dragonfly *, struct spec *, struct zerr *);

#endif
