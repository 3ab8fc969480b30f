/* SPDX-License-Identifier: BSD-3-Clause */
/* The constructor of a datatype. See content.h. */
#include "libzip/type/content.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/shim/shim.h"

static bool is_named(int combiner)
{
	return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
	       combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

int zcontent_read(struct zcontent *c, MPI_Datatype t)
{
	memset(c, 0, sizeof(*c));
	int rc = zn.Type_get_envelope_c(t, &c->nints, &c->naints, &c->ncounts, &c->ntypes, &c->combiner);
	if (rc != MPI_SUCCESS)
		return rc;
	c->named = is_named(c->combiner);
	if (c->combiner == MPI_COMBINER_NAMED)
		return MPI_SUCCESS;
	MPI_Count ntypes = c->ntypes;
	c->ntypes = 0; /* no old types to free yet */
	c->ints = calloc((size_t)c->nints + 1, sizeof(*c->ints));
	c->aints = calloc((size_t)c->naints + 1, sizeof(*c->aints));
	c->counts = calloc((size_t)c->ncounts + 1, sizeof(*c->counts));
	c->types = calloc((size_t)ntypes + 1, sizeof(*c->types));
	rc = MPI_ERR_NO_MEM;
	if (c->ints && c->aints && c->counts && c->types)
		rc = zn.Type_get_contents_c(t, c->nints, c->naints, c->ncounts, ntypes, c->ints, c->aints, c->counts,
			c->types);
	if (rc == MPI_SUCCESS)
		c->ntypes = ntypes;
	else
		zcontent_free(c);
	return rc;
}

void zcontent_free(struct zcontent *c)
{
	for (MPI_Count i = 0; i < c->ntypes; i++) {
		MPI_Count ints, aints, counts, types;
		int combiner;
		if (zn.Type_get_envelope_c(c->types[i], &ints, &aints, &counts, &types, &combiner) == MPI_SUCCESS &&
			!is_named(combiner))
			zn.Type_free(&c->types[i]);
	}
	free(c->ints);
	free(c->aints);
	free(c->counts);
	free(c->types);
	memset(c, 0, sizeof(*c));
}
