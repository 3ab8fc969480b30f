/* SPDX-License-Identifier: BSD-3-Clause */
/* How many segments a vector is cut into, see coll_segments.h. */
#include "libzip/coll/across/coll_segments.h"

struct zsegments zsegments_cut(const struct ztuning_settings *tune, int members, MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = zbuf_wire_bytes(1, type);
	struct zsegments g = {.count = count, .extent = zbuf_extent(type), .tune = *tune};
	g.lanes = tune->leaders < members ? (int)tune->leaders : members;
	g.each = size > 0 ? tune->segment / size : count;
	if (g.each * g.lanes > count) /* something for every lane */
		g.each = (count + g.lanes - 1) / g.lanes;
	if (g.each * tune->segments < count)
		g.each = (count + tune->segments - 1) / tune->segments;
	if (g.each < 1)
		g.each = 1;
	g.n = count > 0 ? (int)((count + g.each - 1) / g.each) : 1;
	g.groups = (g.n + g.lanes - 1) / g.lanes;
	return g;
}
