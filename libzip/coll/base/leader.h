/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The leaders of a part: the members that send and receive over the bridge for the others. A part has one leader, its
 * lowest rank, or several. Of `leaders` leaders in a part with n members, leader number a is in charge of the members
 * zleader_first(a) to zleader_first(a + 1) - 1, counted in the part (in my part these are ranks in the shadow), and is
 * the first of them itself. So the leaders are spread over the members.
 */
#ifndef ZIP_LIBZIP_LEADER_H
#define ZIP_LIBZIP_LEADER_H

#include "libzip/world/comm.h"

/* Am I the leader of my part, where it has one? */
static inline bool zleader_is_me(const struct zcomm *c)
{
	return c->rank == c->parts[c->my_part].leader;
}

/* The member that is leader number a. */
static inline int zleader_first(int n, int leaders, int a)
{
	return (int)((long)n * a / leaders);
}

/* My number among the leaders of my part, or -1: I am none. */
static inline int zleader_number(const struct zcomm *c, int leaders)
{
	for (int a = 0; a < leaders; a++)
		if (zleader_first(c->nlocal, leaders, a) == zcomm_shadow_rank(c, c->rank))
			return a;
	return -1;
}

/* The leader of my part that is in charge of me, by its rank in the shadow. *members: of how many it is in charge. */
static inline int zleader_mine(const struct zcomm *c, int leaders, int *members)
{
	int a = leaders - 1;
	while (zleader_first(c->nlocal, leaders, a) > zcomm_shadow_rank(c, c->rank))
		a--;
	*members = zleader_first(c->nlocal, leaders, a + 1) - zleader_first(c->nlocal, leaders, a);
	return zleader_first(c->nlocal, leaders, a);
}

#endif
