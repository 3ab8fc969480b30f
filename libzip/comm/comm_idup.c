/* SPDX-License-Identifier: BSD-3-Clause */
/* Native duplications, one after the other where they must be. */
#include "libzip/comm/comm_idup.h"

#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/handlers.h"

/* Native duplications under way. */
static struct {
	int shared; /* of communicators with several members */
	bool alone; /* of a communicator with this process as its only member */
} under_way;

struct turn {
	struct zcomm_idup d;
	MPI_Request request;
};

static bool take_turn(struct zsched *s, void *arg)
{
	const struct turn *t = arg;
	const bool alone = t->d.members == 1;
	(void)s;
	if (under_way.alone || (alone && under_way.shared > 0))
		return false;
	under_way.alone = alone;
	under_way.shared += !alone;
	return true;
}

static void end_turn(const struct turn *t)
{
	if (t->d.members == 1)
		under_way.alone = false;
	else
		under_way.shared--;
}

static int begin(struct zsched *s, void *arg)
{
	struct turn *t = arg;
	int rc = t->d.start(t->d.arg, &t->request);
	(void)s;
	if (rc != MPI_SUCCESS) {
		zcomm_outcome_note_native(t->d.outcome, rc, t->d.raises);
		t->request = MPI_REQUEST_NULL;
		*t->d.made = MPI_COMM_NULL;
	}
	return MPI_SUCCESS;
}

/* MPI_Testany raises its error at home only, which is hushed (handlers.h). */
static bool look(struct zsched *s, void *arg)
{
	struct turn *t = arg;
	int index, flag = 1, rc = MPI_SUCCESS;
	(void)s;
	if (t->request != MPI_REQUEST_NULL) {
		zhandlers_hush_home();
		rc = zn.Testany(1, &t->request, &index, &flag, MPI_STATUS_IGNORE);
		zhandlers_unhush_home();
	}
	if (rc == MPI_SUCCESS && !flag)
		return false;
	if (rc != MPI_SUCCESS) {
		zcomm_outcome_note_native(t->d.outcome, rc, false);
		*t->d.made = MPI_COMM_NULL;
	}
	end_turn(t);
	return true;
}

int zcomm_idup_add(struct zsched *s, const struct zcomm_idup *d)
{
	struct turn *t = zsched_alloc(s, sizeof *t);
	if (!t)
		return MPI_ERR_NO_MEM;
	*t = (struct turn){.d = *d, .request = MPI_REQUEST_NULL};
	int rc = zstep_watch(s, take_turn, t);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_call(s, begin, t);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_watch(s, look, t);
	zsched_round(s);
	return rc;
}
