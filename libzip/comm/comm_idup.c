/* SPDX-License-Identifier: BSD-3-Clause */
/* Native duplications, one after the other where they must be. */
#include "libzip/comm/comm_idup.h"

#include "libzip/schedule/step.h"

/* Native duplications under way. */
static struct {
	int shared; /* of communicators with several members */
	bool alone; /* of a communicator with this process as its only member */
} under_way;

struct turn {
	bool alone;
};

static bool take_turn(struct zsched *s, void *arg)
{
	const struct turn *t = arg;
	(void)s;
	if (under_way.alone || (t->alone && under_way.shared > 0))
		return false;
	under_way.alone = t->alone;
	under_way.shared += !t->alone;
	return true;
}

static int end_turn(struct zsched *s, void *arg)
{
	const struct turn *t = arg;
	(void)s;
	if (t->alone)
		under_way.alone = false;
	else
		under_way.shared--;
	return MPI_SUCCESS;
}

int zcomm_idup_add(struct zsched *s, int (*start)(void *, MPI_Request *), void *arg, int members)
{
	struct turn *t = zsched_alloc(s, sizeof *t);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->alone = members == 1;
	int rc = zstep_watch(s, take_turn, t);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_native(s, start, arg);
	zsched_round(s);
	return rc == MPI_SUCCESS ? zstep_call(s, end_turn, t) : rc;
}
