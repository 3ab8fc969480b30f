/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole predefined elements at the beginning of an element. See prefix.h. MPI_Get_elements of MPICH 4.0.2 is no help:
 * it divides by zero for some datatypes. */
#include "libzip/type/prefix.h"

#include "libzip/shim/shim.h"
#include "libzip/type/content.h"

/* The old datatype in which the prefix ends. *left becomes the number of its bytes that the prefix has. */
static int find_last(const struct zcontent *c, uint64_t *left, MPI_Datatype *last)
{
	bool is_struct = c->combiner == MPI_COMBINER_STRUCT || c->combiner == MPI_COMBINER_STRUCT_INTEGER;

	for (MPI_Count i = 0; i < c->ntypes; i++) {
		MPI_Count size = 0;
		int rc = zn.Type_size_c(c->types[i], &size);
		if (rc != MPI_SUCCESS)
			return rc;
		uint64_t n = is_struct ? (uint64_t)(c->ncounts > 0 ? c->counts[1 + i] : c->ints[1 + i]) : UINT64_MAX;
		*last = c->types[i];
		if (size > 0 && *left / (uint64_t)size < n) { /* all other constructors repeat one type */
			*left %= (uint64_t)size;
			return MPI_SUCCESS;
		}
		*left -= (uint64_t)size * n;
	}
	return MPI_SUCCESS;
}

int zprefix_whole(MPI_Datatype t, uint64_t *bytes)
{
	struct zcontent c;
	uint64_t left = *bytes;
	MPI_Datatype last = MPI_DATATYPE_NULL;
	MPI_Count size = 0;
	int rc = zn.Type_size_c(t, &size);

	if (rc != MPI_SUCCESS || left == 0 || left == (uint64_t)size)
		return rc;
	rc = zcontent_read(&c, t);
	if (rc != MPI_SUCCESS)
		return rc;
	if (c.named) {
		*bytes = 0;
	} else {
		rc = find_last(&c, &left, &last);
		uint64_t part = left;
		if (rc == MPI_SUCCESS && left > 0 && (rc = zprefix_whole(last, &part)) == MPI_SUCCESS)
			*bytes -= left - part;
	}
	zcontent_free(&c);
	return rc;
}
