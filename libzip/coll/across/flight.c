/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments that cross the bridge at the same time. */
#include "libzip/coll/across/flight.h"

#include "libzip/schedule/step.h"

int zflight_depth(const struct ztuning_settings *tune, int groups)
{
	return tune->depth < groups ? (int)tune->depth : groups;
}

int zflight_init(struct zflight *f, struct zsched *s, int depth)
{
	*f = (struct zflight){.depth = depth, .steps = zsched_alloc(s, (size_t)depth * sizeof *f->steps)};
	return f->steps ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

void zflight_begin(struct zflight *f, const struct zsched *s, int i)
{
	f->steps[i % f->depth][0] = zstep_next(s);
}

void zflight_end(struct zflight *f, struct zsched *s, int i)
{
	f->steps[i % f->depth][1] = zstep_next(s);
	if (f->depth > 1)
		zstep_open_from(s, f->steps[i % f->depth][0]);
}

int zflight_land(const struct zflight *f, struct zsched *s, int i)
{
	const int *steps = f->steps[i % f->depth];
	int rc = MPI_SUCCESS;
	for (int k = steps[0]; f->depth > 1 && k < steps[1] && rc == MPI_SUCCESS; k++)
		rc = zstep_close(s, k);
	return rc;
}

struct zflight *zflight_strips(struct zsched *s, int strips)
{
	struct zflight *flights = zsched_alloc(s, (size_t)strips * sizeof *flights);
	for (int l = 0; flights && l < strips; l++)
		flights[l] = (struct zflight){.depth = 0};
	return flights;
}

int zflight_land_strips(const struct zflight *flights, struct zsched *s, const struct zsegments *g, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < g->strips && rc == MPI_SUCCESS; l++)
		if (flights[l].depth > 0 && zsegments_number(g, i, l) >= 0)
			rc = zflight_land(&flights[l], s, i);
	return rc;
}
