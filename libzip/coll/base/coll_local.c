/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on local communicators. */
#include "libzip/coll/base/coll_local.h"

#include <stdalign.h>
#include <stdlib.h>

#include "libzip/p2p/completion.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

bool zcoll_local_may_block(MPI_Comm comm)
{
	int inter = 0, size = 0;
	if (!zworld.merged || comm == MPI_COMM_SELF || comm == MPI_COMM_NULL)
		return true;
	return zn.Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter && zn.Comm_size(comm, &size) == MPI_SUCCESS &&
	       size == 1;
}

int zcoll_local_wait(int rc, MPI_Request *request, MPI_Comm comm, const char *name)
{
	return rc == MPI_SUCCESS ? zcompletion_wait_native(request, MPI_STATUS_IGNORE, comm, name) : rc;
}

struct zcoll_local_copy {
	struct zcoll_local_copy *next;
	alignas(max_align_t) char bytes[];
};

static void *keep_copy(void *arg, size_t bytes)
{
	struct zcoll_local *l = arg;
	struct zcoll_local_copy *copy = malloc(sizeof *copy + bytes);
	if (!copy)
		return NULL;
	copy->next = l->copies;
	l->copies = copy;
	return copy->bytes;
}

void zcoll_local_begin(struct zcoll_local *l)
{
	*l = (struct zcoll_local){.keeper = {keep_copy, l}};
	zsmall_keeper = &l->keeper;
}

int zcoll_local_end(struct zcoll_local *l, int rc, MPI_Request *request, MPI_Comm comm, const char *name)
{
	zsmall_keeper = NULL;
	rc = zcoll_local_wait(rc, request, comm, name);
	while (l->copies) {
		struct zcoll_local_copy *copy = l->copies;
		l->copies = copy->next;
		free(copy);
	}
	return rc;
}
