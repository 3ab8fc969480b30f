/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of a net's nodes, and multicasts in them that are timed: from the call of send until the last receiver has
 * been told that its message is complete.
 */
#ifndef ZIPBENCH_CAST_CAST_GROUP_H
#define ZIPBENCH_CAST_CAST_GROUP_H

#include "zipbench/cast/cast_net.h"

struct cast_member;
struct cast_group {
	struct cast_net *net;
	uint32_t n, slot;
	struct cast_member *member; /* [n]; 0: root */
	const uint8_t *data;	    /* what the root sends */
};

/* members[0] is the root. data: at least as many bytes as the group ever sends. Groups that send at the same time have
 * different slots. 0 or a negative errno with text; to be closed in any case. */
int cast_group_open(struct cast_group *, struct cast_net *, uint32_t slot, const uint32_t *members, uint32_t n,
	const char *algorithm, uint32_t block_bytes, const uint8_t *data, struct zerr *);
void cast_group_close(struct cast_group *);
/* Sends `messages` messages in each of the groups at the same time. seconds: how long all of that took. 0 or a negative
 * errno with text. */
int cast_group_send(struct cast_net *, struct cast_group *, uint32_t ngroups, uint64_t bytes, uint32_t messages,
	double *seconds, struct zerr *);
/* Have all receivers got the last message that was sent in this group alone? 0 or -EBADMSG with text. */
int cast_group_verify(const struct cast_group *, uint64_t bytes, struct zerr *);
/* Adds the blocks and bytes that went from one site to another in the group, if it is open. */
void cast_group_crossed(const struct cast_group *, uint64_t *blocks, uint64_t *bytes);

#endif
