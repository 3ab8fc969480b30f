/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of our own with the same members as one of the application. */
#include "libzip/comm/comm_twin.h"

#include "libzip/comm/comm_dup.h"
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

/* Twins are duplicates of a seed that has no attributes, so that no callbacks run. They are made without a native call
 * that blocks, which would spin where there are more ranks than cores. */
struct zcomm *zcomm_twin(struct zcomm *c, const char *name, int *error)
{
	MPI_Comm handle;
	if (!c->seed) {
		*error = c->local ? zinter_split(c, 0, c->local->rank, &handle, name)
				  : zcomm_split(c, 0, c->rank, c->topo, name, &handle);
		if (*error != MPI_SUCCESS)
			return NULL;
		c->seed = hide(handle);
	}
	*error = zcomm_dup(c->seed, name, &handle);
	return *error == MPI_SUCCESS ? hide(handle) : NULL;
}
