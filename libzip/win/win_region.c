/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a window. See win_region.h. */
#include "libzip/win/win_region.h"

#include <stdlib.h>

struct zwin_region {
	struct zwin_region *next;
	intptr_t from, to; /* to is excluded */
};

int zwin_region_attach(struct zwin *w, const void *base, MPI_Aint size)
{
	struct zwin_region *r = malloc(sizeof(*r));

	if (!r)
		return MPI_ERR_NO_MEM;
	*r = (struct zwin_region){w->regions, (intptr_t)base, (intptr_t)base + size};
	w->regions = r;
	return MPI_SUCCESS;
}

void zwin_region_detach(struct zwin *w, const void *base)
{
	for (struct zwin_region **at = &w->regions, *r; (r = *at); at = &r->next)
		if (r->from == (intptr_t)base) {
			*at = r->next;
			free(r);
			return;
		}
}

void zwin_region_detach_all(struct zwin *w)
{
	while (w->regions)
		zwin_region_detach(w, (const void *)w->regions->from);
}

/* Is the address in a region? inside: of a byte; else the end of a region will do. */
static bool holds_address(const struct zwin *w, intptr_t at, bool inside)
{
	for (const struct zwin_region *r = w->regions; r; r = r->next)
		if (at >= r->from && (at < r->to || (!inside && at == r->to)))
			return true;
	return false;
}

/* A datatype may cover several regions and leave out the bytes between them. So only its ends are checked. */
bool zwin_region_holds(const struct zwin *w, intptr_t from, intptr_t to)
{
	if (!w->dynamic)
		return from >= 0 && to <= w->size && from <= to;
	return from <= to && holds_address(w, from, from < to) && (from == to || holds_address(w, to - 1, true));
}
