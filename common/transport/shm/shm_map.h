/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared memory of a link as one process sees it: two rings (shm_ring.h) and a probe. Set-up; any thread. */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_MAP_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_MAP_H

#include <stdint.h>

#include "common/base/err.h"
#include "common/transport/shm/shm_ring.h"

/* The word by which the accepting side finds out whether it may use one-sided access (shm_rma.h). */
struct shm_probe {
	uint64_t address; /* of a word of the connecting process */
	uint64_t value;	  /* of that word */
};

/* Ring [0] goes from the connecting side to the accepting side. */
struct shm_map {
	void *base;
	struct shm_ring_ctl *ctl[2];
	struct shm_probe *probe;
	uint8_t *data[2];
};

/* Makes sealed memory and maps it. Returns its descriptor, which is the caller's and is to be passed on, or a negative
 * errno with text. */
int shm_map_create(struct shm_map *, struct zerr *);
/* Maps memory that a peer has made. fd stays the caller's. Returns 0, -EPROTO (the memory has not the size or the seals
 * of shm_map_create), or another negative errno. */
int shm_map_open(struct shm_map *, int fd);
void shm_map_close(struct shm_map *);

#endif
