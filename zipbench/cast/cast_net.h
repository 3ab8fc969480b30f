/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of zipcast in this process, each with its own context and thread. One thread uses a net. */
#ifndef ZIPBENCH_CAST_CAST_NET_H
#define ZIPBENCH_CAST_CAST_NET_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "zipbench/cast/cast_sites.h"
#include "zipcast/zipcast.h"

struct cast_net {
	const struct cast_sites *sites; /* or NULL */
	uint32_t n;
	struct zipcast **zc; /* [n] */
	uint32_t slots;	     /* groups that may send at the same time */
	uint8_t **memory;    /* [slots][n] where messages arrive: one block for a node in a group of that slot */
	uint64_t memory_bytes;
	char dir[64]; /* of shm: */
	uint32_t next_group;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* (lock) */
	uint64_t left_receivers, left; /* completions that are outstanding: of receivers, and of all members */
	double last;		       /* when the last receiver completed, seconds */
	char why[ZIPCAST_WHY_BYTES];   /* of a failure; empty: none */
};

/* Opens n nodes that have met. Each listens at an address of the transport, or where its site is; sites (NULL: none)
 * stay until close. 0 or a negative errno with text; to be closed in any case. */
int cast_net_open(struct cast_net *, const char *transport, uint32_t n, uint32_t slots, enum zipcast_waiting,
	uint64_t message_bytes, const struct cast_sites *, struct zerr *);
void cast_net_close(struct cast_net *);

#endif
