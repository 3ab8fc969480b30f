/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of all groups that there were: none is used twice. Words about a group that is over here are answered, so
 * that no member waits for this node.
 */
#ifndef ZIPCAST_USED_H
#define ZIPCAST_USED_H

#include "zipcast/group.h"

struct used { /* the number of a group that there is or was */
	UT_hash_handle hh;
	uint32_t number;
	bool over;	 /* the group was destroyed here, or could not be made */
	bool failed;	 /* it had failed by then, or has failed since */
	int32_t suspect; /* of that failure, as FAIL names it */
	uint64_t last;	 /* the last message that was complete by then */
	uint64_t end;	 /* the last message of the group, if its end is known here; else UINT64_MAX */
	uint64_t end_barriers;
	uint32_t without; /* the node for which this one has left */
	/* Nodes that may still be in the group, connected or not: we pass failures and the end on to them. Room for all
	 * members until it is over; NULL when none is left. */
	uint32_t nothers, *others;
};

/* Enters the group's number. 0; -EEXIST with text; -ENOMEM. Any thread. */
int zused_reserve(struct zipcast_group *, struct zerr *);
/* The group is over here: later words about it are answered. The context's thread. */
void zused_note(const struct zipcast_group *, bool failed);
/* A word about a group that is not here. True: it is over, and the word was dealt with. The context's thread. */
bool zused_hear(struct node *, const struct zwire_env *, const char *text);
/* NULL: nothing to free. */
void zused_free(struct used *);

#endif
