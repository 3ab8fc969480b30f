/* SPDX-License-Identifier: BSD-3-Clause */
/* Reduction operations. Those that are held stand in a list, as there are hardly ever more than a few. */
#include "libzip/type/redop.h"

#include <stdlib.h>

#include "libzip/abi/abi.h"
#include "libzip/shim/shim.h"
#include "libzip/type/data.h"
#include "libzip/world/quiet.h"

struct held {
	struct held *next;
	MPI_Op op;
	unsigned refs;
	bool freed; /* by the application */
};

static struct held *held_head;

bool zredop_is_predefined(MPI_Op op)
{
	return zabi_op_is_predefined(op);
}

/* Pairs that native MPI has found right; all are predefined. */
#define CHECKED 16u
static struct {
	MPI_Op op;
	MPI_Datatype type;
} checked[CHECKED];

int zredop_check(MPI_Op op, MPI_Datatype type)
{
	const unsigned at = (zabi_hash(op) * 5 + zabi_hash(type)) % CHECKED;
	int nothing = 0, class = MPI_SUCCESS;

	if (!zabi_op_is_valid(op))
		return MPI_ERR_OP;
	if (!zredop_is_predefined(op) || (checked[at].op == op && checked[at].type == type))
		return MPI_SUCCESS;
	if (ztype_check(type) != MPI_SUCCESS) /* MPICH 5.0.2 asserts that it is a datatype; earlier ones say this */
		return MPI_ERR_OP;
	int rc = zn.Allreduce(MPI_IN_PLACE, &nothing, 0, type, op, zquiet_comm());
	if (rc != MPI_SUCCESS)
		zn.Error_class(rc, &class);
	if (class == MPI_SUCCESS) {
		checked[at].op = op;
		checked[at].type = type;
	}
	return class;
}

bool zredop_commutes(MPI_Op op)
{
	int commute = 1;
	if (zredop_is_predefined(op))
		return op != MPI_REPLACE && op != MPI_NO_OP;
	zn.Op_commutative(op, &commute);
	return commute;
}

static bool is_integer(MPI_Datatype t)
{
	return t == MPI_INT || t == MPI_UNSIGNED || t == MPI_LONG || t == MPI_UNSIGNED_LONG || t == MPI_LONG_LONG ||
	       t == MPI_UNSIGNED_LONG_LONG || t == MPI_INT32_T || t == MPI_UINT32_T || t == MPI_INT64_T ||
	       t == MPI_UINT64_T || t == MPI_BYTE || t == MPI_INT8_T || t == MPI_UINT8_T || t == MPI_SHORT ||
	       t == MPI_UNSIGNED_SHORT || t == MPI_INT16_T || t == MPI_UINT16_T || t == MPI_INTEGER ||
	       t == MPI_LOGICAL || t == MPI_SIGNED_CHAR || t == MPI_UNSIGNED_CHAR;
}

bool zredop_exchanges(MPI_Op op, MPI_Datatype type)
{
	return zredop_is_predefined(op) && zredop_commutes(op) && (op == MPI_SUM || is_integer(type));
}

static struct held **find(MPI_Op op)
{
	struct held **h = &held_head;
	while (*h && (*h)->op != op)
		h = &(*h)->next;
	return h;
}

int zredop_hold(MPI_Op op)
{
	if (zredop_is_predefined(op))
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

void zredop_release(MPI_Op op)
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
