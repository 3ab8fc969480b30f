/* SPDX-License-Identifier: BSD-3-Clause */
/* How a vector is cut into segments. */
#include "libzip/coll/across/segments.h"

struct zsegments zsegments_cut(const struct ztuning_settings *tune, int members, MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = zbuf_wire_bytes(1, type);
	struct zsegments g = {.count = count, .extent = zbuf_extent(type), .tune = *tune};
	g.strips = tune->leaders < members ? (int)tune->leaders : members;
	g.each = size > 0 ? tune->segment / size : count;
	if (g.each * g.strips > count) /* every strip gets a segment */
		g.each = (count + g.strips - 1) / g.strips;
	if (g.each * tune->segments < count)
		g.each = (count + tune->segments - 1) / tune->segments;
	if (g.each < 1)
		g.each = 1;
	g.n = count > 0 ? (int)((count + g.each - 1) / g.each) : 1;
	g.groups = (g.n + g.strips - 1) / g.strips;
	return g;
}
