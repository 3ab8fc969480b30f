/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a zipper node as text: "FABRIC=ADDRESS ...", in ZIPPER_PORTS and when ranks join. Start-up only; any
 * thread. */
#ifndef ZIP_COMMON_HOSTS_PORTS_H
#define ZIP_COMMON_HOSTS_PORTS_H

#include "common/control/ctl.h"
#include "common/transport/base/addr.h"

struct zports { /* large: not on small stacks */
	int n;
	struct {
		char fabric[ZCTL_NAME_MAX + 1];
		struct zaddr addr;
	} port[ZCTL_PARTS_MAX];
};

/* Reads ports. "" has none. Returns 0, or -EINVAL with the reason: no FABRIC=ADDRESS, a bad name or address, a fabric
 * twice, too many. */
int zports_parse(struct zports *, const char *text, struct zerr *);
/* Reads "[RANKS] FABRIC=ADDRESS ...; ..." and takes the ports of this rank of the part; none if the rank is not there.
 * RANKS is a number or range; without it the ports are those of every rank. */
int zports_find(struct zports *, const char *text, uint32_t lrank, struct zerr *);
/* Writes ports as zports_parse reads them. Returns 0 or -EMSGSIZE. */
int zports_format(const struct zports *, char *buf, size_t cap);

#endif
