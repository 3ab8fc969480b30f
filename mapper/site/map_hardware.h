/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a node, by hwloc: its cores in the order in which ranks get them. As in the thesis' Figure 4, only
 * physical cores count; ranks alternate over the sockets, and inside a socket over the L3 caches. Start-up only. */
#ifndef ZIP_MAPPER_MAP_HARDWARE_H
#define ZIP_MAPPER_MAP_HARDWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"

struct map_hardware {
	uint32_t *core; /* [ncores]: the first hardware thread of each core, by the system's number, in order of use */
	uint32_t ncores;
	uint32_t *kept; /* [nkept]: the same of the cores that are kept free */
	uint32_t nkept;
	uint32_t gpus;
	char near[64]; /* the device or NUMA node near the kept cores; "" if none is known */
};

/*
 * Reads the inside of a node. text: the value of "topology=" in the hostfile, or NULL for `cores` cores of one socket.
 * folder: where a relative path in text starts. keep: that many cores are taken out, close to the device or NUMA node
 * `hca`, or else on the first socket. preset: the user has not asked for this number, so at least one core is left;
 * otherwise all cores may be taken out, but not more than there are. 0, -EINVAL (with the reason), -ENOENT (no such
 * device or NUMA node), -ENOMEM.
 */
int map_hardware_read(struct map_hardware *, const char *text, const char *folder, uint32_t cores, uint32_t keep,
	bool preset, const char *hca, struct zerr *);
void map_hardware_free(struct map_hardware *);

#endif
