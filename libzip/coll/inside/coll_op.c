/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations that unfinished collectives of ours use. A list: there are hardly ever more than a
 * few. */
#include <stdbool.h>
#include <stdlib.h>

#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/inside/coll_op.h"
#include "libzip/shim/shim.h"

struct held {
	struct held *next;
	MPI_Op op;
	unsigned refs;
	bool freed; /* by the application */
};

static struct held *held_head;

static struct held **find(MPI_Op op)
{
	struct held **h = &held_head;
	while (*h && (*h)->op != op)
		h = &(*h)->next;
	return h;
}

int zcoll_op_hold(MPI_Op op)
{
	if (zbuf_op_predefined(op))
		return MPI_SUCCESS;
	struct held *h = *find(op);
	if (!h) {
		h = malloc(sizeof *h);
		if (!h)
			return MPI_ERR_NO_MEM;
		*h = (struct held){.next = held_head, .op = op};
		held_head = h;
	}
	h->refs++;
	return MPI_SUCCESS;
}

void zcoll_op_release(MPI_Op op)
{
	struct held **at = find(op), *h = *at;
	if (!h || --h->refs > 0)
		return;
	*at = h->next;
	if (h->freed)
		zn.Op_free(&h->op);
	free(h);
}

int zip_Op_free(MPI_Op *op)
{
	struct held *h = op ? *find(*op) : NULL;
	if (!h)
		return zn.Op_free(op);
	h->freed = true;
	*op = MPI_OP_NULL;
	return MPI_SUCCESS;
}
