/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sites of the nodes of "zipbench cast", and the place of each site: an address, and if need be a network
 * namespace. Namespaces belong to threads, not to processes. So one process has nodes in several namespaces, if the
 * thread that opens a node and makes its groups has entered its place.
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
	int netns; /* descriptor; -1: the thread's own */
	/* If zipperd connects the sites: the name of this site's network, and zipperd's address on it; "": it does not
	 */
	char fabric[ZCTL_NAME_MAX + 1], zipper[320];
	char user[ZCTL_NAME_MAX + 1];
	uint8_t key[ZIPCAST_KEY_BYTES];
};

struct cast_sites {
	uint32_t n;
	uint32_t of[CAST_MEMBERS_MAX];	/* the site of each node */
	const struct cast_place *place; /* [n]; NULL: all are here */
};

/* Parses "HOST[@FILE],...", at least two. 0 or a negative errno with text; to be closed in any case. */
int cast_sites_open(struct cast_place place[CAST_SITES_MAX], uint32_t *n, const char *list, struct zerr *);
/* Parses "FABRIC=ADDRESS,...", one for each place. User and key come from the environment, as those of ranks do. As
 * above. */
int cast_sites_connect(struct cast_place *, uint32_t n, const char *list, struct zerr *);
void cast_sites_close(struct cast_place *, uint32_t n);
/* The place of a node; NULL: here. */
const struct cast_place *cast_sites_place(const struct cast_sites *, uint32_t node);
/* Moves the calling thread to the place, for good. 0 or a negative errno with text. */
int cast_sites_enter(const struct cast_place *, struct zerr *);

#endif
