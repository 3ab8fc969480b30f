/* SPDX-License-Identifier: BSD-3-Clause */
/* The side of a reduction between groups that gives. */
#include "libzip/coll/across/giving.h"

#include "libzip/coll/across/fanout.h"
#include "libzip/coll/across/flight.h"
#include "libzip/coll/inside/subtotal.h"
#include "libzip/schedule/step.h"

struct strip {
	int root;  /* the strip's leader: a rank in the shadow */
	bool mine; /* I am the leader */
	struct zsubtotal in;
	void **temp;		/* mine: my part's sums of segments, [depth + 1] in turns */
	struct zflight *flight; /* one of flights */
};

struct zgiving {
	struct zgroupsum sum;
	const void *sendbuf;
	struct zsegments g;
	struct strip *strips;	 /* [g.strips] */
	struct zflight *flights; /* [g.strips] */
};

static int make_giving(struct zsched *s, const struct zgiving *x, struct strip *strip)
{
	int rc = zflight_init(strip->flight, s, zgroupsum_depth(&x->g));
	return rc == MPI_SUCCESS
		       ? zbuf_temps(s, zsegments_count(&x->g, 0), x->sum.type, zgroupsum_turns(&x->g), &strip->temp)
		       : rc;
}

int zgiving_create(struct zsched *s, const struct zgroupsum *sum, const void *sendbuf, struct zgiving **giving)
{
	struct zcomm *c = zsched_comm(s);
	struct zgiving *x = *giving = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct zgiving){.sum = *sum, .sendbuf = sendbuf, .g = zgroupsum_cut(c, zsched_partners(s), sum)};
	x->strips = zsched_alloc(s, (size_t)x->g.strips * sizeof *x->strips);
	x->flights = zflight_strips(s, x->g.strips);
	int rc = x->strips && x->flights ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++) {
		struct strip *strip = &x->strips[l];
		*strip = (struct strip){.root = zgroupsum_leader(sum, &x->g, c->nlocal, l), .flight = &x->flights[l]};
		strip->mine = strip->root == zcomm_shadow_rank(c, c->rank);
		rc = zsubtotal_init(&strip->in, s, &x->g.tune, zsegments_count(&x->g, 0), sum->type, sum->op,
			strip->root);
		if (rc == MPI_SUCCESS && strip->mine)
			rc = make_giving(s, x, strip);
	}
	return rc;
}

static int reduce_inside(struct zsched *s, const struct zgiving *x, int l, int k)
{
	const struct strip *strip = &x->strips[l];
	return zsubtotal_start(&strip->in, s, zsegments_at(&x->g, x->sendbuf, k),
		strip->mine ? strip->temp[zgroupsum_turn(&x->g, k)] : NULL, zsegments_count(&x->g, k));
}

static int give(struct zsched *s, const struct zgiving *x, int l, int k)
{
	struct strip *strip = &x->strips[l];
	const struct zcomm_part *part =
		x->sum.to == ZGROUPSUM_SHARE ? &zsched_partners(s)->parts[x->sum.share.part] : NULL;
	void *sum = strip->temp[zgroupsum_turn(&x->g, k)];
	MPI_Count count = zsegments_count(&x->g, k);
	int rc = zsubtotal_finish(&strip->in, s, zsegments_at(&x->g, x->sendbuf, k), sum, count);
	if (rc != MPI_SUCCESS)
		return rc;
	zflight_begin(strip->flight, s, k / x->g.strips);
	if (x->sum.to == ZGROUPSUM_ALL)
		rc = zfanout_to_leaders(s, sum, count, x->sum.type, x->g.strips, l, &x->g.tune);
	else
		rc = zstep_send(s, sum, count, x->sum.type,
			part ? part->member[zgroupsum_leader(&x->sum, &x->g, part->count, l)] : x->sum.to);
	zflight_end(strip->flight, s, k / x->g.strips);
	return rc;
}

int zgiving_send(struct zsched *s, const struct zgiving *x, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k >= 0 && x->strips[l].mine)
			rc = give(s, x, l, k);
	}
	return rc;
}

int zgiving_reduce(struct zsched *s, const struct zgiving *x, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k >= 0)
			rc = reduce_inside(s, x, l, k);
	}
	return rc;
}

int zgiving_land(struct zsched *s, const struct zgiving *x, int i)
{
	return zflight_land_strips(x->flights, s, &x->g, i);
}

const struct zsegments *zgiving_segments(const struct zgiving *x)
{
	return &x->g;
}
