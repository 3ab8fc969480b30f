/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sites that the nodes of "zipbench cast" are in: which, and where those are: each at an address, in a network
 * namespace of its own if need be. Threads are in namespaces, not processes: so one process has nodes in all of them,
 * if the thread that opens a node and makes its groups has entered its place.
 */
#ifndef ZIPBENCH_CAST_CAST_SITES_H
#define ZIPBENCH_CAST_CAST_SITES_H

#include <stdint.h>

#include "common/control/ctl.h"
#include "zipcast/zipcast.h"

#define CAST_MEMBERS_MAX 512
#define CAST_SITES_MAX 16

struct cast_place {
	char host[64];
	int netns; /* descriptor; -1: as it is */
	/* Where zipperd connects the sites: what this one's network is called, and where zipperd listens on it; "":
	 * none does */
	char fabric[ZCTL_NAME_MAX + 1], zipper[320];
	char user[ZCTL_NAME_MAX + 1];
	uint8_t key[ZIPCAST_KEY_BYTES];
};

struct cast_sites {
	uint32_t n;
	uint32_t of[CAST_MEMBERS_MAX];	/* of each node */
	const struct cast_place *place; /* [n]; NULL: all are here */
};

/* "HOST[@FILE],...", at least two. 0 or a negative errno with text; to be closed in any case. */
int cast_sites_open(struct cast_place place[CAST_SITES_MAX], uint32_t *n, const char *list, struct zerr *);
/* "FABRIC=ADDRESS,...", one for each place; who asks there is told by the environment, as ranks are. As above. */
int cast_sites_connect(struct cast_place *, uint32_t n, const char *list, struct zerr *);
void cast_sites_close(struct cast_place *, uint32_t n);
/* Of a node; NULL: here. */
const struct cast_place *cast_sites_place(const struct cast_sites *, uint32_t node);
/* The calling thread goes there, and stays. */
int cast_sites_enter(const struct cast_place *, struct zerr *);

#endif
