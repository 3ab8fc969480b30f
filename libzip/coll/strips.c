/* SPDX-License-Identifier: BSD-3-Clause */
/* The strips of a vector that is reduced. */
#include "libzip/coll/strips.h"

#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/tune.h"

struct zsegments zstrips_cut(struct zsched *s, enum ztuning_collective which, MPI_Count count, MPI_Datatype type)
{
	struct zcomm *c = zsched_comm(s);
	struct ztuning_settings tune = ztune_choose(c, which, zbuf_wire_bytes(count, type));
	return zsegments_cut(&tune, c->members_min, count, type);
}

int zstrips_make(struct zsched *s, const struct zsegments *g, const struct zcoll *a, int one, struct zstrip **strips)
{
	struct zcomm *c = zsched_comm(s);
	*strips = zsched_alloc(s, (size_t)g->strips * sizeof **strips);
	int rc = *strips ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < g->strips && rc == MPI_SUCCESS; l++) {
		struct zstrip *strip = &(*strips)[l];
		*strip = (struct zstrip){.root = one >= 0 ? one : zleader_first(c->nlocal, g->strips, l)};
		strip->mine = strip->root == zcomm_shadow_rank(c, c->rank);
		rc = zsubtotal_init(&strip->in, s, &g->tune, zsegments_count(g, 0), a->recvtype, a->op, strip->root);
	}
	return rc;
}

const void *zstrips_own(const struct zsegments *g, const struct zcoll *a, const struct zstrip *strip, int k)
{
	if (a->sendbuf != MPI_IN_PLACE)
		return zsegments_at(g, a->sendbuf, k);
	return strip->mine ? MPI_IN_PLACE : zsegments_at(g, a->recvbuf, k);
}
