/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes as bytes, by native MPI's account of how they were made. See typecode_write.h. */
#include "libzip/type/typecode_write.h"

#include <stdlib.h>
#include <string.h>
/* a failing malloc inside uthash must not end the program: an entry that was not added has no hh.tbl */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "libzip/type/content.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typecode_args.h"
#include "libzip/type/typecode_named.h"

#define NUMBER_BYTES_MAX 10 /* 64 bits in groups of 7 */

/* --- the nodes --- */

struct node {
	UT_hash_handle hh; /* a table by bytes, and a list in the order of the numbers */
	size_t number;
	unsigned len;
	uint8_t bytes[];
};

struct seen { /* a datatype with a node: a datatype that is used twice is walked once */
	UT_hash_handle hh;
	MPI_Datatype type;
	size_t number;
};

struct writer {
	struct node *nodes;
	struct seen *seen;
	size_t len; /* of all nodes */
};

static void free_writer(struct writer *w)
{
	struct node *n, *next;
	struct seen *s, *after;

	HASH_ITER(hh, w->nodes, n, next) {
		HASH_DEL(w->nodes, n);
		free(n);
	}
	HASH_ITER(hh, w->seen, s, after) {
		HASH_DEL(w->seen, s);
		free(s);
	}
}

static int remember(struct writer *w, MPI_Datatype t, size_t number)
{
	struct seen *s = calloc(1, sizeof(*s));

	if (!s)
		return MPI_ERR_NO_MEM;
	s->type = t;
	s->number = number;
	HASH_ADD(hh, w->seen, type, sizeof(s->type), s);
	if (s->hh.tbl)
		return MPI_SUCCESS;
	free(s);
	return MPI_ERR_NO_MEM;
}

/* Takes the node and adds it, or drops it for its equal. */
static int add_node(struct writer *w, struct node *n, size_t *number)
{
	struct node *same;

	HASH_FIND(hh, w->nodes, n->bytes, n->len, same);
	if (same) {
		*number = same->number;
		free(n);
		return MPI_SUCCESS;
	}
	*number = n->number = HASH_COUNT(w->nodes);
	HASH_ADD(hh, w->nodes, bytes, n->len, n);
	if (!n->hh.tbl) {
		free(n);
		return MPI_ERR_NO_MEM;
	}
	w->len += n->len;
	return w->len <= ZTYPECODE_LEN_MAX && n->number < ZTYPECODE_NODES_MAX ? MPI_SUCCESS : MPI_ERR_TYPE;
}

static uint8_t *put_number(uint8_t *at, MPI_Count n)
{
	uint64_t z = (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0);

	for (; z >= 0x80; z >>= 7)
		*at++ = (uint8_t)(z | 0x80);
	*at++ = (uint8_t)z;
	return at;
}

static uint8_t *put_column(uint8_t *at, const MPI_Count *number, size_t n)
{
	uint64_t last = 0; /* differences of any two numbers wrap around */

	for (size_t i = 0; i < n; i++) {
		at = put_number(at, (MPI_Count)((uint64_t)number[i] - last));
		last = (uint64_t)number[i];
	}
	return at;
}

static int write_node(struct writer *w, const struct ztypecode_args *a, size_t *number)
{
	const struct ztypecode_form *f = &ztypecode_args_forms[a->op];
	size_t numbers = f->heads + f->columns * a->items + a->nold;

	if (numbers > ZTYPECODE_LEN_MAX)
		return MPI_ERR_TYPE;
	struct node *n = malloc(sizeof(*n) + 1 + numbers * NUMBER_BYTES_MAX);
	if (!n)
		return MPI_ERR_NO_MEM;
	memset(n, 0, sizeof(*n));
	uint8_t *at = n->bytes;
	*at++ = (uint8_t)a->op;
	for (unsigned i = 0; i < f->heads; i++)
		at = put_number(at, a->head[i]);
	for (unsigned i = 0; i < f->columns; i++)
		at = put_column(at, ztypecode_args_column(a, i), a->items);
	for (size_t i = 0; i < a->nold; i++)
		at = put_number(at, (MPI_Count)a->old[i]);
	n->len = (unsigned)(at - n->bytes);
	struct node *small = realloc(n, sizeof(*n) + n->len);
	return add_node(w, small ? small : n, number);
}

/* --- arguments in one form --- */

static int find_op(int combiner)
{
	switch (combiner) {
	case MPI_COMBINER_F90_REAL:
		return ZTYPECODE_F90_REAL;
	case MPI_COMBINER_F90_COMPLEX:
		return ZTYPECODE_F90_COMPLEX;
	case MPI_COMBINER_F90_INTEGER:
		return ZTYPECODE_F90_INTEGER;
	case MPI_COMBINER_CONTIGUOUS:
		return ZTYPECODE_CONTIGUOUS;
	case MPI_COMBINER_VECTOR:
		return ZTYPECODE_VECTOR;
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_HVECTOR_INTEGER: /* these three come from calls in Fortran that MPI-3.0 has removed */
		return ZTYPECODE_HVECTOR;
	case MPI_COMBINER_INDEXED:
		return ZTYPECODE_INDEXED;
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_HINDEXED_INTEGER:
		return ZTYPECODE_HINDEXED;
	case MPI_COMBINER_INDEXED_BLOCK:
		return ZTYPECODE_INDEXED_BLOCK;
	case MPI_COMBINER_HINDEXED_BLOCK:
		return ZTYPECODE_HINDEXED_BLOCK;
	case MPI_COMBINER_STRUCT:
	case MPI_COMBINER_STRUCT_INTEGER:
		return ZTYPECODE_STRUCT;
	case MPI_COMBINER_SUBARRAY:
		return ZTYPECODE_SUBARRAY;
	case MPI_COMBINER_DARRAY:
		return ZTYPECODE_DARRAY;
	case MPI_COMBINER_RESIZED:
		return ZTYPECODE_RESIZED;
	default: /* MPI_COMBINER_NAMED of a datatype that is not in the table, or a combiner of a later version */
		return -1;
	}
}

/* Reads the numbers of a constructor in the order ints, aints, counts. Within each of these they have the order of its
 * arguments. */
struct numbers {
	const struct zcontent *c;
	size_t at;
};

static MPI_Count take(struct numbers *n)
{
	const struct zcontent *c = n->c;
	size_t i = n->at++;

	if (i < (size_t)c->nints)
		return c->ints[i];
	i -= (size_t)c->nints;
	if (i < (size_t)c->naints)
		return c->aints[i];
	i -= (size_t)c->naints;
	return i < (size_t)c->ncounts ? c->counts[i] : 0;
}

static void take_column(struct ztypecode_args *a, unsigned column, struct numbers *n)
{
	for (size_t i = 0; i < a->items; i++)
		ztypecode_args_column(a, column)[i] = take(n);
}

/* In subarrays and darrays the order is the last of the ints; all other numbers of elements may be among the large
 * counts. */
static int take_array(struct ztypecode_args *a, const struct zcontent *c)
{
	struct numbers n = {.c = c};
	bool large = c->ncounts > 0, darray = a->op == ZTYPECODE_DARRAY;

	if (c->nints < 2)
		return MPI_ERR_INTERN;
	if (darray) {
		a->head[2] = take(&n);
		a->head[3] = take(&n);
	}
	a->head[0] = take(&n);
	a->head[1] = c->ints[c->nints - 1];
	if (!ztypecode_args_alloc(a))
		return MPI_ERR_NO_MEM;
	struct numbers sizes = {.c = c, .at = (size_t)c->nints};
	take_column(a, 0, large ? &sizes : &n);
	for (unsigned i = 1; i < ztypecode_args_forms[a->op].columns; i++)
		take_column(a, i, large && !darray ? &sizes : &n);
	return MPI_SUCCESS;
}

static int take_all(struct ztypecode_args *a, const struct zcontent *c)
{
	const struct ztypecode_form *f = &ztypecode_args_forms[a->op];
	struct numbers n = {.c = c};

	for (unsigned i = 0; i < f->heads; i++)
		a->head[i] = take(&n);
	if (!ztypecode_args_alloc(a))
		return MPI_ERR_NO_MEM;
	for (unsigned i = 0; i < f->columns; i++)
		take_column(a, i, &n);
	return MPI_SUCCESS;
}

/* --- constants that are not MPI's, and arguments that differ without a difference --- */

static MPI_Count place_of(int value, const int *known, int n)
{
	for (int i = 0; i < n; i++)
		if (known[i] == value)
			return i;
	return -1;
}

static void tidy_distribution(MPI_Count *distribution, MPI_Count *argument)
{
	static const int known[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};

	if (*argument == MPI_DISTRIBUTE_DFLT_DARG || *distribution == MPI_DISTRIBUTE_NONE)
		*argument = -1;
	*distribution = place_of((int)*distribution, known, 3);
}

static void tidy(struct ztypecode_args *a)
{
	static const int orders[] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};

	if (a->op <= ZTYPECODE_F90_INTEGER)
		for (unsigned i = 0; i < ztypecode_args_forms[a->op].heads; i++)
			a->head[i] = a->head[i] == MPI_UNDEFINED ? -1 : a->head[i];
	if (a->op == ZTYPECODE_SUBARRAY || a->op == ZTYPECODE_DARRAY)
		a->head[1] = place_of((int)a->head[1], orders, 2);
	if (a->op == ZTYPECODE_DARRAY)
		for (size_t i = 0; i < a->items; i++)
			tidy_distribution(ztypecode_args_column(a, 1) + i, ztypecode_args_column(a, 2) + i);
}

/* --- the walk --- */

static int add_type(struct writer *w, MPI_Datatype t, unsigned depth, size_t *number);

static int add_args(struct writer *w, const struct zcontent *c, unsigned depth, size_t *number)
{
	struct ztypecode_args a = {0};
	int op = find_op(c->combiner), rc;

	if (op < 0)
		return MPI_ERR_TYPE;
	a.op = (enum ztypecode_op)op;
	rc = op == ZTYPECODE_SUBARRAY || op == ZTYPECODE_DARRAY ? take_array(&a, c) : take_all(&a, c);
	if (rc == MPI_SUCCESS && a.nold != (size_t)c->ntypes)
		rc = MPI_ERR_INTERN;
	if (rc == MPI_SUCCESS)
		tidy(&a);
	for (size_t i = 0; i < a.nold && rc == MPI_SUCCESS; i++)
		rc = add_type(w, c->types[i], depth + 1, &a.old[i]);
	if (rc == MPI_SUCCESS)
		rc = write_node(w, &a, number);
	ztypecode_args_free(&a);
	return rc;
}

/* Is the datatype the same as its only old type? Without data the bounds are not the same (MPICH 4.0.2). */
static bool is_same(const struct zcontent *c)
{
	MPI_Count size = 0;

	if (c->combiner == MPI_COMBINER_CONTIGUOUS)
		return (c->nints > 0 ? c->ints[0] : c->counts[0]) == 1 &&
		       zn.Type_size_c(c->types[0], &size) == MPI_SUCCESS && size > 0;
	return c->combiner == MPI_COMBINER_DUP;
}

static int add_derived(struct writer *w, MPI_Datatype t, unsigned depth, size_t *number)
{
	struct zcontent c;
	int rc = zcontent_read(&c, t);

	if (rc != MPI_SUCCESS)
		return rc;
	if (is_same(&c))
		rc = add_type(w, c.types[0], depth + 1, number);
	else
		rc = add_args(w, &c, depth, number);
	zcontent_free(&c);
	return rc == MPI_SUCCESS ? remember(w, t, *number) : rc;
}

static int add_type(struct writer *w, MPI_Datatype t, unsigned depth, size_t *number)
{
	struct ztypecode_args a = {.op = ZTYPECODE_NAMED};
	struct seen *s;

	if (depth >= ZTYPECODE_DEPTH_MAX)
		return MPI_ERR_TYPE;
	a.head[0] = ztypecode_named_find(t);
	if (a.head[0] >= 0)
		return write_node(w, &a, number);
	HASH_FIND(hh, w->seen, &t, sizeof(t), s);
	if (!s)
		return add_derived(w, t, depth, number);
	*number = s->number;
	return MPI_SUCCESS;
}

int ztypecode_write(MPI_Datatype t, uint8_t **code, size_t *len)
{
	struct writer w = {0};
	size_t number;
	int rc = add_type(&w, t, 0, &number);

	if (rc == MPI_SUCCESS && !(*code = malloc(w.len)))
		rc = MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS) {
		*len = 0;
		for (const struct node *n = w.nodes; n; n = n->hh.next) {
			memcpy(*code + *len, n->bytes, n->len);
			*len += n->len;
		}
	}
	free_writer(&w);
	return rc;
}
