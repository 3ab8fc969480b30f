/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes as datatypes. Any bytes may come. See typecode_read.h. */
#include "libzip/type/typecode_read.h"

#include <stdlib.h>

#include "libzip/shim/shim.h"
#include "libzip/type/typecode_args.h"
#include "libzip/type/typecode_make.h"

struct reader {
	const uint8_t *at, *end;
	struct ztypecode_node *nodes;
	size_t nnodes, room;
};

static bool get_number(struct reader *r, MPI_Count *n)
{
	uint64_t z = 0;

	for (unsigned shift = 0; r->at < r->end; shift += 7) {
		uint8_t byte = *r->at++;
		if (shift > 63 || (shift == 63 && byte > 1))
			return false;
		z |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*n = (MPI_Count)(z >> 1 ^ (0 - (z & 1)));
			return true;
		}
	}
	return false;
}

static bool get_column(struct reader *r, MPI_Count *number, size_t n)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++) {
		MPI_Count difference;
		if (!get_number(r, &difference))
			return false;
		last += (uint64_t)difference;
		number[i] = (MPI_Count)last;
	}
	return true;
}

static bool get_old(struct reader *r, struct ztypecode_args *a)
{
	for (size_t i = 0; i < a->nold; i++) {
		MPI_Count number;
		if (!get_number(r, &number) || number < 0 || (uint64_t)number >= r->nnodes)
			return false;
		a->old[i] = (size_t)number;
	}
	return true;
}

static bool get_args(struct reader *r, struct ztypecode_args *a)
{
	const struct ztypecode_form *f;

	if (*r->at >= ZTYPECODE_OPS)
		return false;
	a->op = (enum ztypecode_op) * r->at++;
	f = &ztypecode_args_forms[a->op];
	for (unsigned i = 0; i < f->heads; i++)
		if (!get_number(r, &a->head[i]))
			return false;
	/* Refuses more numbers than there are bytes for, before memory is allocated. */
	if (f->columns > 0 && a->head[0] > r->end - r->at)
		return false;
	if (!ztypecode_args_alloc(a))
		return false;
	for (unsigned i = 0; i < f->columns; i++)
		if (!get_column(r, ztypecode_args_column(a, i), a->items))
			return false;
	return get_old(r, a);
}

/* The levels of nesting that a node with these arguments adds. To native MPI an array is one datatype for each
 * dimension, nested. */
static unsigned depth_of(const struct reader *r, const struct ztypecode_args *a)
{
	bool array = a->op == ZTYPECODE_SUBARRAY || a->op == ZTYPECODE_DARRAY;
	unsigned depth = 0;

	if (array && a->items > ZTYPECODE_DEPTH_MAX)
		return ZTYPECODE_DEPTH_MAX + 1;
	for (size_t i = 0; i < a->nold; i++)
		if (r->nodes[a->old[i]].depth > depth)
			depth = r->nodes[a->old[i]].depth;
	return depth + (array ? (unsigned)a->items : 1);
}

static bool make_room(struct reader *r)
{
	size_t room = r->room ? r->room * 2 : 8;

	if (r->nnodes < r->room)
		return true;
	struct ztypecode_node *nodes = realloc(r->nodes, room * sizeof(*nodes));
	if (!nodes)
		return false;
	r->nodes = nodes;
	r->room = room;
	return true;
}

static bool get_node(struct reader *r)
{
	struct ztypecode_args a = {.item = NULL};
	bool ok = r->nnodes < ZTYPECODE_NODES_MAX && make_room(r) && get_args(r, &a);

	if (ok) {
		unsigned depth = depth_of(r, &a);
		ok = depth <= ZTYPECODE_DEPTH_MAX && ztypecode_args_check(&a, r->nodes) &&
		     ztypecode_make(&r->nodes[r->nnodes], &a, r->nodes);
		if (ok)
			r->nodes[r->nnodes++].depth = depth;
	}
	ztypecode_args_free(&a);
	return ok;
}

bool ztypecode_read(struct ztypecode_node *last, const uint8_t *code, size_t len)
{
	struct reader r = {.at = code, .end = code + len};
	bool ok = len > 0 && len <= ZTYPECODE_LEN_MAX;

	while (ok && r.at < r.end)
		ok = get_node(&r);
	if (ok)
		*last = r.nodes[--r.nnodes];
	while (r.nnodes > 0)
		if (r.nodes[--r.nnodes].owned)
			zn.Type_free(&r.nodes[r.nnodes].type.handle);
	free(r.nodes);
	return ok;
}
