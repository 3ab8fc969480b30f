/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a datatype one piece of memory? Walks its constructors (MPI-4.0 section 5.1.13). See dense.h. */
#include "libzip/type/dense.h"

#include "libzip/type/content.h"
#include "libzip/shim/shim.h"

struct run { /* a piece of memory that grows at its end */
	MPI_Count start, size;
};

/* Appends count elements of old (piece `old`, extent) at displacement disp. False: there would be a gap or a jump. */
static bool run_add(struct run *r, const struct run *old, MPI_Count extent, MPI_Count count, MPI_Count disp)
{
	if (count <= 0 || old->size == 0)
		return true;
	if (count > 1 && extent != old->size)
		return false;
	if (r->size == 0)
		r->start = disp + old->start;
	else if (disp + old->start != r->start + r->size)
		return false;
	r->size += count * old->size;
	return true;
}

static bool find_run(MPI_Datatype, struct run *);

/* The old type's piece and extent. */
static bool old_run(MPI_Datatype t, struct run *r, MPI_Count *extent)
{
	MPI_Count lb;

	return zn.Type_get_extent_c(t, &lb, extent) == MPI_SUCCESS && find_run(t, r);
}

static bool add_struct(const struct zcontent *c, struct run *r)
{
	for (int i = 0; i < c->ints[0]; i++) {
		struct run old;
		MPI_Count extent;
		if (c->ints[1 + i] == 0)
			continue;
		if (!old_run(c->types[i], &old, &extent) || !run_add(r, &old, extent, c->ints[1 + i], c->aints[i]))
			return false;
	}
	return true;
}

/* Constructors with one old type. Arguments stand in the order of the constructor's. */
static bool add_blocks(const struct zcontent *c, struct run *r)
{
	struct run old;
	MPI_Count extent;
	const int *n = c->ints;
	bool ok = true;

	if (!old_run(c->types[0], &old, &extent))
		return false;
	switch (c->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
		return run_add(r, &old, extent, 1, 0);
	case MPI_COMBINER_CONTIGUOUS:
		return run_add(r, &old, extent, n[0], 0);
	case MPI_COMBINER_VECTOR:
		for (int i = 0; i < n[0] && ok; i++)
			ok = run_add(r, &old, extent, n[1], (MPI_Count)i * n[2] * extent);
		return ok;
	case MPI_COMBINER_HVECTOR:
		for (int i = 0; i < n[0] && ok; i++)
			ok = run_add(r, &old, extent, n[1], (MPI_Count)i * c->aints[0]);
		return ok;
	case MPI_COMBINER_INDEXED:
		for (int i = 0; i < n[0] && ok; i++)
			ok = run_add(r, &old, extent, n[1 + i], n[1 + n[0] + i] * extent);
		return ok;
	case MPI_COMBINER_HINDEXED:
		for (int i = 0; i < n[0] && ok; i++)
			ok = run_add(r, &old, extent, n[1 + i], c->aints[i]);
		return ok;
	case MPI_COMBINER_INDEXED_BLOCK:
		for (int i = 0; i < n[0] && ok; i++)
			ok = run_add(r, &old, extent, n[1], n[2 + i] * extent);
		return ok;
	case MPI_COMBINER_HINDEXED_BLOCK:
		for (int i = 0; i < n[0] && ok; i++)
			ok = run_add(r, &old, extent, n[1], c->aints[i]);
		return ok;
	default: /* subarray, darray: packed; rare and mostly not dense */
		return false;
	}
}

static bool find_run(MPI_Datatype t, struct run *r)
{
	struct zcontent c;
	MPI_Count true_lb, true_extent, size;
	bool ok = false;

	*r = (struct run){0};
	if (zn.Type_size_c(t, &size) != MPI_SUCCESS ||
		zn.Type_get_true_extent_c(t, &true_lb, &true_extent) != MPI_SUCCESS)
		return false;
	if (size == 0)
		return true;
	if (size != true_extent || zcontent_read(&c, t) != MPI_SUCCESS)
		return false;
	if (c.named) {
		*r = (struct run){.start = true_lb, .size = size};
		ok = true;
	} else if (c.ncounts == 0) { /* what large-count constructors made is not looked into */
		ok = c.combiner == MPI_COMBINER_STRUCT ? add_struct(&c, r) : c.ntypes == 1 && add_blocks(&c, r);
	}
	zcontent_free(&c);
	return ok;
}

bool zdense_find(MPI_Datatype t, MPI_Count *start)
{
	struct run r;
	bool dense = find_run(t, &r);

	*start = dense ? r.start : 0;
	return dense;
}
