/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of constructors in one form, and the check of their bounds. The check stands before native MPI computes
 * with them: native MPI does not look for overflows, and may have been built without any checks. See typecode_args.h.
 */
#include "libzip/type/typecode_args.h"

#include <limits.h>
#include <stdlib.h>

const struct ztypecode_form ztypecode_args_forms[ZTYPECODE_OPS] = {
	[ZTYPECODE_NAMED] = {.heads = 1},
	[ZTYPECODE_F90_REAL] = {.heads = 2},
	[ZTYPECODE_F90_COMPLEX] = {.heads = 2},
	[ZTYPECODE_F90_INTEGER] = {.heads = 1},
	[ZTYPECODE_CONTIGUOUS] = {.heads = 1},
	[ZTYPECODE_VECTOR] = {.heads = 3},
	[ZTYPECODE_HVECTOR] = {.heads = 3, .head_bytes = 1 << 2},
	[ZTYPECODE_INDEXED] = {.heads = 1, .columns = 2},
	[ZTYPECODE_HINDEXED] = {.heads = 1, .columns = 2, .column_bytes = 1 << 1},
	[ZTYPECODE_INDEXED_BLOCK] = {.heads = 2, .columns = 1},
	[ZTYPECODE_HINDEXED_BLOCK] = {.heads = 2, .columns = 1, .column_bytes = 1 << 0},
	[ZTYPECODE_STRUCT] = {.heads = 1, .columns = 2, .column_bytes = 1 << 1},
	[ZTYPECODE_SUBARRAY] = {.heads = 2, .columns = 3},
	[ZTYPECODE_DARRAY] = {.heads = 4, .columns = 4},
	[ZTYPECODE_RESIZED] = {.heads = 2, .head_bytes = 1 << 0 | 1 << 1},
};

bool ztypecode_args_alloc(struct ztypecode_args *a)
{
	unsigned columns = ztypecode_args_forms[a->op].columns;

	if (columns > 0 && (a->head[0] < 0 || a->head[0] > (MPI_Count)ZTYPECODE_LEN_MAX))
		return false;
	a->items = columns > 0 ? (size_t)a->head[0] : 0;
	a->nold = a->op == ZTYPECODE_STRUCT ? a->items : a->op > ZTYPECODE_F90_INTEGER;
	a->item = calloc(columns * a->items + 1, sizeof(*a->item));
	a->old = calloc(a->nold + 1, sizeof(*a->old));
	return a->item && a->old;
}

void ztypecode_args_free(struct ztypecode_args *a)
{
	free(a->item);
	free(a->old);
}

/* --- how far bytes reach, and how many there are; saturated at the first value that is too large --- */

#define TOO_FAR (ZTYPECODE_REACH_MAX + 1)

static MPI_Count larger(MPI_Count a, MPI_Count b)
{
	return a > b ? a : b;
}

static MPI_Count magnitude(MPI_Count n)
{
	return n < -ZTYPECODE_REACH_MAX || n > ZTYPECODE_REACH_MAX ? TOO_FAR : n < 0 ? -n : n;
}

static MPI_Count product(MPI_Count a, MPI_Count b)
{
	MPI_Count p;

	return __builtin_mul_overflow(magnitude(a), magnitude(b), &p) ? TOO_FAR : magnitude(p);
}

static MPI_Count sum(MPI_Count a, MPI_Count b)
{
	return magnitude(magnitude(a) + magnitude(b));
}

/* The distance of the farthest byte from the address, in either direction. */
static MPI_Count reach(const struct ztypecode_type *t)
{
	MPI_Count bounds = larger(magnitude(t->lb), magnitude(t->lb + t->extent));

	return larger(bounds, larger(magnitude(t->true_lb), magnitude(t->true_lb + t->true_extent)));
}

/* Checks blocks of old types; far: distance of the farthest block in bytes. */
static bool check_block(MPI_Count far, MPI_Count blocklength, const struct ztypecode_type *old)
{
	MPI_Count block = sum(product(blocklength, old->extent), reach(old));

	return blocklength >= 0 && blocklength <= ZTYPECODE_REACH_MAX && sum(far, block) <= ZTYPECODE_REACH_MAX;
}

static bool check_vector(const struct ztypecode_args *a, const struct ztypecode_type *old)
{
	MPI_Count unit = a->op == ZTYPECODE_VECTOR ? old->extent : 1;
	MPI_Count blocks = product(a->head[0], product(a->head[1], old->size));

	return a->head[0] >= 0 && a->head[0] <= ZTYPECODE_REACH_MAX && blocks <= ZTYPECODE_REACH_MAX &&
	       check_block(product(a->head[0], product(a->head[2], unit)), a->head[1], old);
}

static bool check_blocks(const struct ztypecode_args *a, const struct ztypecode_node *nodes)
{
	bool in_bytes = ztypecode_args_forms[a->op].column_bytes != 0;
	bool even = a->op == ZTYPECODE_INDEXED_BLOCK || a->op == ZTYPECODE_HINDEXED_BLOCK;
	const MPI_Count *displacement = ztypecode_args_column(a, even ? 0 : 1);
	MPI_Count size = 0;

	for (size_t i = 0; i < a->items; i++) {
		const struct ztypecode_type *old = &nodes[a->old[a->op == ZTYPECODE_STRUCT ? i : 0]].type;
		MPI_Count blocklength = even ? a->head[1] : a->item[i];
		size = sum(size, product(blocklength, old->size));
		if (!check_block(product(displacement[i], in_bytes ? 1 : old->extent), blocklength, old))
			return false;
	}
	return size <= ZTYPECODE_REACH_MAX && (!even || a->head[1] >= 0);
}

static bool check_subarray(const struct ztypecode_args *a, const struct ztypecode_type *old)
{
	MPI_Count all = 1;

	for (size_t i = 0; i < a->items; i++) {
		MPI_Count size = ztypecode_args_column(a, 0)[i], sub = ztypecode_args_column(a, 1)[i],
			  start = ztypecode_args_column(a, 2)[i];
		if (sub < 1 || size < sub || start < 0 || start > size - sub)
			return false;
		all = product(all, size);
	}
	return a->items > 0 && (a->head[1] == 0 || a->head[1] == 1) && product(all, old->size) <= ZTYPECODE_REACH_MAX &&
	       check_block(0, all, old);
}

/* Checks one dimension. Returns the number of elements that its blocks span; 0: the arguments make no sense. */
static MPI_Count distribution_reach(const struct ztypecode_args *a, size_t i)
{
	MPI_Count size = ztypecode_args_column(a, 0)[i], how = ztypecode_args_column(a, 1)[i],
		  block = ztypecode_args_column(a, 2)[i], processes = ztypecode_args_column(a, 3)[i];

	if (size < 1 || processes < 1 || processes > INT_MAX || block < -1 || block == 0 || block > INT_MAX)
		return 0;
	MPI_Count all = product(block < 0 ? 1 : block, processes);
	switch (how) {
	case 0:
		return block < 0 || all >= size ? sum(larger(all, size), processes) : 0;
	case 1:
		return larger(all, size);
	case 2:
		return processes == 1 ? size : 0;
	default:
		return 0;
	}
}

static bool check_darray(const struct ztypecode_args *a, const struct ztypecode_type *old)
{
	MPI_Count all = 1, processes = 1;

	for (size_t i = 0; i < a->items; i++) {
		MPI_Count one = distribution_reach(a, i);
		if (one == 0)
			return false;
		all = product(all, one);
		processes = product(processes, ztypecode_args_column(a, 3)[i]);
	}
	return a->items > 0 && (a->head[1] == 0 || a->head[1] == 1) && processes <= INT_MAX &&
	       processes == a->head[2] && a->head[3] >= 0 && a->head[3] < processes &&
	       product(all, old->size) <= ZTYPECODE_REACH_MAX && check_block(0, all, old);
}

static bool check_f90(const struct ztypecode_args *a)
{
	for (unsigned i = 0; i < ztypecode_args_forms[a->op].heads; i++)
		if (a->head[i] < -1 || a->head[i] > INT_MAX)
			return false;
	return true;
}

bool ztypecode_args_check(const struct ztypecode_args *a, const struct ztypecode_node *nodes)
{
	const struct ztypecode_type *old = a->nold > 0 ? &nodes[a->old[0]].type : NULL;

	switch (a->op) {
	case ZTYPECODE_NAMED:
		return true;
	case ZTYPECODE_F90_REAL:
	case ZTYPECODE_F90_COMPLEX:
	case ZTYPECODE_F90_INTEGER:
		return check_f90(a);
	case ZTYPECODE_CONTIGUOUS:
		return product(a->head[0], old->size) <= ZTYPECODE_REACH_MAX && check_block(0, a->head[0], old);
	case ZTYPECODE_VECTOR:
	case ZTYPECODE_HVECTOR:
		return check_vector(a, old);
	case ZTYPECODE_SUBARRAY:
		return check_subarray(a, old);
	case ZTYPECODE_DARRAY:
		return check_darray(a, old);
	case ZTYPECODE_RESIZED:
		return sum(sum(a->head[0], a->head[1]), reach(old)) <= ZTYPECODE_REACH_MAX;
	default:
		return check_blocks(a, nodes);
	}
}
