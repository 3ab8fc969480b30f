/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of native duplications. See order.h. */
#include "libzip/schedule/order.h"

#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

#define RANK_BITS 24 /* ZCTL_RANKS_MAX has less */

static struct zorder *places; /* in no order */
static uint64_t highest;      /* number without its rank */

static int start_meeting(void *arg, MPI_Request *r)
{
	const struct zorder *o = arg;
	return zn.Ibarrier(o->over, r);
}

static int propose(struct zsched *s, void *arg)
{
	struct zorder *o = arg;
	(void)s;
	o->number = ++highest << RANK_BITS | (uint64_t)zworld.vrank;
	o->next = places;
	places = o;
	return MPI_SUCCESS;
}

static int start_telling(void *arg, MPI_Request *r)
{
	struct zorder *o = arg;
	o->said = o->number;
	return zn.Iallreduce(&o->said, &o->heard, 1, MPI_UINT64_T, MPI_MAX, o->over, r);
}

static int end(struct zsched *s, void *arg)
{
	struct zorder *o = arg;
	(void)s;
	o->number = o->heard;
	o->final = true;
	if (highest < o->number >> RANK_BITS)
		highest = o->number >> RANK_BITS;
	return MPI_SUCCESS;
}

int zorder_add(struct zsched *s, struct zorder *o, MPI_Comm over)
{
	*o = (struct zorder){.over = over};
	int rc = zstep_native(s, start_meeting, o);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_call(s, propose, o);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_native(s, start_telling, o);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_call(s, end, o);
	zsched_round(s);
	return rc;
}

bool zorder_is_first(const struct zorder *o)
{
	for (const struct zorder *p = places; p; p = p->next)
		if (p->number < o->number)
			return false;
	return o->final;
}

void zorder_leave(struct zorder *o)
{
	struct zorder **p = &places;
	while (*p && *p != o)
		p = &(*p)->next;
	if (*p)
		*p = o->next;
}
