/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of our own with the same members as one of the application. */
#include "libzip/comm/comm_twin.h"

#include "libzip/comm/comm_dup.h"
#include "libzip/comm/comm_make.h"
#include "libzip/comm/comm_split.h"
#include "libzip/comm/inter_split.h"

/* Takes it out of the table, so that only the caller has it. */
static struct zcomm *hide(MPI_Comm handle)
{
	struct zcomm *c = zcomm_find(handle);
	zcomm_ref(c);
	zcomm_drop(c);
	return c;
}

static bool make_seed(struct zcomm *c, const char *name, struct zcomm_outcome *outcome)
{
	MPI_Comm made = c->local ? zinter_split_make(c, 0, c->local->rank, name, outcome)
				 : zcomm_split(c, 0, c->rank, c->topo != NULL, c->topo, name, outcome);
	if (outcome->failure != 0) {
		zcomm_make_undo(made);
		return false;
	}
	zcomm_make_board(made);
	c->seed = hide(made);
	return true;
}

/* Twins are duplicates of a seed that has no attributes, so that no callbacks run. They are made without a native call
 * that blocks, which would spin where there are more ranks than cores. */
struct zcomm *zcomm_twin(struct zcomm *c, const char *name, struct zcomm_outcome *outcome)
{
	MPI_Comm handle;
	if (!c->seed && !make_seed(c, name, outcome))
		return NULL;
	zcomm_dup(c->seed, name, &handle, outcome);
	return outcome->failure == 0 ? hide(handle) : NULL;
}
