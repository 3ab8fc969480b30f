/* SPDX-License-Identifier: BSD-3-Clause */
/* Native datatypes from arguments in one form. See typecode_make.h. */
#include "libzip/type/typecode_make.h"

#include <limits.h>
#include <stdlib.h>

#include "libzip/shim/shim.h"
#include "libzip/type/typecode_args.h"
#include "libzip/type/typecode_named.h"

_Static_assert(sizeof(MPI_Count) == 8, "counts are 64-bit numbers");

/* The arguments as constructors with int counts take them. These constructors are used wherever possible, because some
 * code that looks into datatypes knows no others (dense.c). */
struct small {
	int head[ZTYPECODE_HEADS_MAX];
	int *item; /* columns as in ztypecode_args; columns of bytes are in the next member */
	MPI_Aint *bytes;
};

static bool fits(MPI_Count n)
{
	return n >= INT_MIN && n <= INT_MAX;
}

static bool is_small(const struct ztypecode_args *a)
{
	const struct ztypecode_form *f = &ztypecode_args_forms[a->op];

	for (unsigned i = 0; i < f->heads; i++)
		if (!(f->head_bytes & 1 << i) && !fits(a->head[i]))
			return false;
	for (unsigned c = 0; c < f->columns; c++)
		for (size_t i = 0; i < a->items; i++)
			if (!(f->column_bytes & 1 << c) && !fits(ztypecode_args_column(a, c)[i]))
				return false;
	return true;
}

static bool make_small(struct small *s, const struct ztypecode_args *a)
{
	size_t n = ztypecode_args_forms[a->op].columns * a->items;

	s->item = calloc(n + 1, sizeof(*s->item));
	s->bytes = calloc(n + 1, sizeof(*s->bytes));
	if (!s->item || !s->bytes)
		return false;
	for (unsigned i = 0; i < ZTYPECODE_HEADS_MAX; i++)
		s->head[i] = (int)a->head[i];
	for (size_t i = 0; i < n; i++) {
		s->item[i] = (int)a->item[i];
		s->bytes[i] = (MPI_Aint)a->item[i];
	}
	return true;
}

/* --- the constructors --- */

static const int orders[] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};

static int build_small(const struct ztypecode_args *a, const struct small *s, MPI_Datatype *old, MPI_Datatype *t)
{
	const int *h = s->head, *first = s->item, *second = first + a->items, *third = second + a->items;
	const MPI_Aint *bytes = s->bytes + a->items;
	int n = h[0];

	switch (a->op) {
	case ZTYPECODE_CONTIGUOUS:
		return zn.Type_contiguous(n, *old, t);
	case ZTYPECODE_VECTOR:
		return zn.Type_vector(n, h[1], h[2], *old, t);
	case ZTYPECODE_HVECTOR:
		return zn.Type_create_hvector(n, h[1], (MPI_Aint)a->head[2], *old, t);
	case ZTYPECODE_INDEXED:
		return zn.Type_indexed(n, first, second, *old, t);
	case ZTYPECODE_HINDEXED:
		return zn.Type_create_hindexed(n, first, bytes, *old, t);
	case ZTYPECODE_INDEXED_BLOCK:
		return zn.Type_create_indexed_block(n, h[1], first, *old, t);
	case ZTYPECODE_HINDEXED_BLOCK:
		return zn.Type_create_hindexed_block(n, h[1], s->bytes, *old, t);
	case ZTYPECODE_STRUCT:
		return zn.Type_create_struct(n, first, bytes, old, t);
	case ZTYPECODE_SUBARRAY:
		return zn.Type_create_subarray(n, first, second, third, orders[h[1]], *old, t);
	case ZTYPECODE_RESIZED:
		return zn.Type_create_resized(*old, (MPI_Aint)a->head[0], (MPI_Aint)a->head[1], t);
	default:
		return MPI_ERR_INTERN;
	}
}

static int build_large(const struct ztypecode_args *a, MPI_Datatype *old, MPI_Datatype *t)
{
	const MPI_Count *h = a->head, *first = a->item, *second = first + a->items, *third = second + a->items;
	MPI_Count n = h[0];

	switch (a->op) {
	case ZTYPECODE_CONTIGUOUS:
		return zn.Type_contiguous_c(n, *old, t);
	case ZTYPECODE_VECTOR:
		return zn.Type_vector_c(n, h[1], h[2], *old, t);
	case ZTYPECODE_HVECTOR:
		return zn.Type_create_hvector_c(n, h[1], h[2], *old, t);
	case ZTYPECODE_INDEXED:
		return zn.Type_indexed_c(n, first, second, *old, t);
	case ZTYPECODE_HINDEXED:
		return zn.Type_create_hindexed_c(n, first, second, *old, t);
	case ZTYPECODE_INDEXED_BLOCK:
		return zn.Type_create_indexed_block_c(n, h[1], first, *old, t);
	case ZTYPECODE_HINDEXED_BLOCK:
		return zn.Type_create_hindexed_block_c(n, h[1], first, *old, t);
	case ZTYPECODE_STRUCT:
		return zn.Type_create_struct_c(n, first, second, old, t);
	case ZTYPECODE_SUBARRAY:
		return zn.Type_create_subarray_c((int)n, first, second, third, orders[h[1]], *old, t);
	case ZTYPECODE_RESIZED:
		return zn.Type_create_resized_c(*old, h[0], h[1], t);
	default:
		return MPI_ERR_INTERN;
	}
}

/* Only the sizes can be large. */
static int build_darray(const struct ztypecode_args *a, bool small, MPI_Datatype old, MPI_Datatype *t)
{
	static const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
	struct small s = {.item = NULL};
	size_t n = a->items;
	int rc = MPI_ERR_NO_MEM;

	if (make_small(&s, a)) {
		int *sizes = s.item, *how = s.item + n, *blocks = s.item + 2 * n, *processes = s.item + 3 * n;
		bool ambiguous = false;
		for (size_t i = 0; i < n; i++) {
			/* in the standard ABI a block may have the size that stands for the default */
			ambiguous |= blocks[i] >= 0 && blocks[i] == MPI_DISTRIBUTE_DFLT_DARG;
			how[i] = distributions[how[i]];
			blocks[i] = blocks[i] < 0 ? MPI_DISTRIBUTE_DFLT_DARG : blocks[i];
		}
		if (ambiguous)
			rc = MPI_ERR_TYPE;
		else if (small)
			rc = zn.Type_create_darray(s.head[2], s.head[3], s.head[0], sizes, how, blocks, processes,
				orders[s.head[1]], old, t);
		else
			rc = zn.Type_create_darray_c(s.head[2], s.head[3], s.head[0], a->item, how, blocks, processes,
				orders[s.head[1]], old, t);
	}
	free(s.item);
	free(s.bytes);
	return rc;
}

static int build_derived(const struct ztypecode_args *a, MPI_Datatype *old, MPI_Datatype *t)
{
	struct small s = {.item = NULL};
	bool small = is_small(a);
	int rc;

	if (a->op == ZTYPECODE_DARRAY)
		return build_darray(a, small, *old, t);
	if (!small)
		return build_large(a, old, t);
	rc = make_small(&s, a) ? build_small(a, &s, old, t) : MPI_ERR_NO_MEM;
	free(s.item);
	free(s.bytes);
	return rc;
}

static int make_derived(struct ztypecode_node *n, const struct ztypecode_args *a, const struct ztypecode_node *nodes)
{
	MPI_Datatype *old = calloc(a->nold + 1, sizeof(*old));
	int rc = MPI_ERR_NO_MEM;

	if (old) {
		for (size_t i = 0; i < a->nold; i++)
			old[i] = nodes[a->old[i]].type.handle;
		rc = build_derived(a, old, &n->type.handle);
	}
	free(old);
	n->owned = rc == MPI_SUCCESS;
	return rc;
}

static int make_f90(struct ztypecode_node *n, const struct ztypecode_args *a)
{
	int p = a->head[0] < 0 ? MPI_UNDEFINED : (int)a->head[0], r = a->head[1] < 0 ? MPI_UNDEFINED : (int)a->head[1];

	if (a->op == ZTYPECODE_F90_REAL)
		return zn.Type_create_f90_real(p, r, &n->type.handle);
	if (a->op == ZTYPECODE_F90_COMPLEX)
		return zn.Type_create_f90_complex(p, r, &n->type.handle);
	return zn.Type_create_f90_integer(p, &n->type.handle);
}

/* --- what they are --- */

static int measure(struct ztypecode_type *t)
{
	int rc = zn.Type_size_c(t->handle, &t->size);

	if (rc == MPI_SUCCESS)
		rc = zn.Type_get_extent_c(t->handle, &t->lb, &t->extent);
	if (rc == MPI_SUCCESS)
		rc = zn.Type_get_true_extent_c(t->handle, &t->true_lb, &t->true_extent);
	return rc;
}

/* MPICH makes reals and complex numbers of these, and in accumulations over ch3 it takes no other type for them.
 * MPI_Type_match_size answers MPI_REAL8 and its like. */
static bool is_f90_element(struct ztypecode_type *t, MPI_Datatype element)
{
	MPI_Count size;

	if (zn.Type_size_c(element, &size) != MPI_SUCCESS || size != t->size)
		return false;
	t->element = element;
	return true;
}

static int find_f90_element(struct ztypecode_type *t, enum ztypecode_op op)
{
	if (op == ZTYPECODE_F90_REAL && (is_f90_element(t, MPI_REAL) || is_f90_element(t, MPI_DOUBLE_PRECISION)))
		return MPI_SUCCESS;
	if (op == ZTYPECODE_F90_COMPLEX && (is_f90_element(t, MPI_COMPLEX) || is_f90_element(t, MPI_DOUBLE_COMPLEX)))
		return MPI_SUCCESS;
	int class = op == ZTYPECODE_F90_REAL	  ? MPI_TYPECLASS_REAL
		    : op == ZTYPECODE_F90_COMPLEX ? MPI_TYPECLASS_COMPLEX
						  : MPI_TYPECLASS_INTEGER;

	return zn.Type_match_size(class, (int)t->size, &t->element);
}

/* Combines the kinds of the old types. */
static void find_element(struct ztypecode_node *n, const struct ztypecode_args *a, const struct ztypecode_node *nodes)
{
	MPI_Datatype element = MPI_DATATYPE_NULL, leaf = MPI_DATATYPE_NULL;
	MPI_Count element_size = 0;

	for (size_t i = 0; i < a->nold && n->type.size > 0; i++) {
		const struct ztypecode_node *old = &nodes[a->old[i]];
		if (old->type.size == 0 || (a->op == ZTYPECODE_STRUCT && a->item[i] == 0))
			continue;
		n->mixed |= old->mixed || (element != MPI_DATATYPE_NULL && element != old->type.element);
		element = old->type.element;
		leaf = old->type.leaf;
		element_size = old->mixed ? 0 : old->type.size / old->type.elements;
	}
	n->type.element = n->mixed ? MPI_DATATYPE_NULL : element;
	n->type.leaf = n->mixed ? MPI_DATATYPE_NULL : leaf;
	n->type.elements = element_size > 0 && !n->mixed ? n->type.size / element_size : 0;
}

static bool make_predefined(struct ztypecode_node *n, const struct ztypecode_args *a)
{
	struct ztypecode_type *t = &n->type;

	if (a->op == ZTYPECODE_NAMED)
		t->handle = ztypecode_named(a->head[0]);
	else if (make_f90(n, a) != MPI_SUCCESS)
		return false;
	if (t->handle == MPI_DATATYPE_NULL || measure(t) != MPI_SUCCESS)
		return false;
	t->elements = t->size > 0; /* MPI_LB and MPI_UB are not data */
	t->element = t->leaf = t->size > 0 ? t->handle : MPI_DATATYPE_NULL;
	return a->op == ZTYPECODE_NAMED || find_f90_element(t, a->op) == MPI_SUCCESS;
}

bool ztypecode_make(struct ztypecode_node *n, const struct ztypecode_args *a, const struct ztypecode_node *nodes)
{
	*n = (struct ztypecode_node){.type.handle = MPI_DATATYPE_NULL,
		.type.element = MPI_DATATYPE_NULL,
		.type.leaf = MPI_DATATYPE_NULL};
	if (a->nold == 0 && a->op <= ZTYPECODE_F90_INTEGER)
		return make_predefined(n, a);
	if (make_derived(n, a, nodes) != MPI_SUCCESS)
		return false;
	if (measure(&n->type) != MPI_SUCCESS) {
		zn.Type_free(&n->type.handle);
		return false;
	}
	find_element(n, a, nodes);
	return true;
}
