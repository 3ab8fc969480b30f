/* SPDX-License-Identifier: BSD-3-Clause */
/* The side of a reduction between groups that takes. */
#include "libzip/coll/across/taking.h"

#include "libzip/coll/across/flight.h"
#include "libzip/coll/base/counts.h"
#include "libzip/coll/base/fold.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/schedule/step.h"

struct strip {
	int root;  /* the strip's leader: a rank in the shadow */
	bool mine; /* I receive it */
	/* mine: buffers for segments of all parts, [depth + 1] in turns. The last part has none if its segments come
	 * into the result */
	void ***temp;
	struct zflight *flight; /* one of flights */
};

struct ztaking {
	struct zgroupsum sum;
	const struct zcomm *from;
	void *result; /* NULL: segments are scattered from temporary buffers */
	struct ztaking_slots slots;
	char *recvbuf; /* the buffer that they are scattered to */
	struct zsegments g;
	struct strip *strips;	 /* [g.strips] */
	struct zflight *flights; /* [g.strips] */
};

static int make_temps(struct zsched *s, const struct ztaking *x, struct strip *strip)
{
	int n = x->from->nparts - (x->result != NULL), turns = zgroupsum_turns(&x->g);
	int rc = zflight_init(strip->flight, s, zgroupsum_depth(&x->g));
	strip->temp = zsched_alloc(s, (size_t)turns * sizeof *strip->temp);
	if (!strip->temp)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < turns && rc == MPI_SUCCESS; i++)
		rc = zbuf_temps(s, zsegments_count(&x->g, 0), x->sum.type, n, &strip->temp[i]);
	return rc;
}

/* A share that is for its leader alone need not be scattered. */
static void place_share(const struct zcomm *c, struct ztaking *x, void *recvbuf)
{
	const MPI_Count *edge = &x->slots.edges[zgroupsum_leader(&x->sum, &x->g, c->nlocal, 0)];
	MPI_Count first = x->slots.first;
	x->recvbuf = recvbuf;
	if (first >= edge[0] && first + x->sum.count <= edge[1])
		x->result = zbuf_at(recvbuf, first - edge[0], zbuf_extent(x->sum.type));
}

int ztaking_create(struct zsched *s, const struct zgroupsum *sum, void *result, const struct ztaking_slots *slots,
	struct ztaking **taking)
{
	struct zcomm *c = zsched_comm(s);
	struct ztaking *x = *taking = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct ztaking){.sum = *sum, .from = zsched_partners(s)};
	x->g = zgroupsum_cut(x->from, c, sum);
	if (slots) {
		x->slots = *slots;
		place_share(c, x, result);
	} else {
		x->result = result;
	}
	x->strips = zsched_alloc(s, (size_t)x->g.strips * sizeof *x->strips);
	x->flights = zflight_strips(s, x->g.strips);
	int rc = x->strips && x->flights ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++) {
		struct strip *strip = &x->strips[l];
		*strip = (struct strip){.root = zgroupsum_leader(sum, &x->g, c->nlocal, l), .flight = &x->flights[l]};
		strip->mine = sum->to >= 0 || strip->root == zcomm_shadow_rank(c, c->rank);
		if (strip->mine)
			rc = make_temps(s, x, strip);
	}
	return rc;
}

/* The buffer for segment k of the other group's part p. */
static void *input(const struct ztaking *x, const struct strip *strip, int p, int k)
{
	return x->result && p == x->from->nparts - 1 ? zsegments_at(&x->g, x->result, k)
						     : strip->temp[zgroupsum_turn(&x->g, k)][p];
}

static int receive(struct zsched *s, const struct ztaking *x, int l, int k)
{
	const struct zcomm *from = x->from;
	int rc = MPI_SUCCESS;
	zflight_begin(x->strips[l].flight, s, k / x->g.strips);
	for (int p = 0; p < from->nparts && rc == MPI_SUCCESS; p++)
		rc = zstep_recv(s, input(x, &x->strips[l], p, k), zsegments_count(&x->g, k), x->sum.type,
			from->parts[p].member[zgroupsum_leader(&x->sum, &x->g, from->parts[p].count, l)]);
	zflight_end(x->strips[l].flight, s, k / x->g.strips);
	return rc;
}

static int combine(struct zsched *s, const struct ztaking *x, int l, int k)
{
	int n = x->from->nparts;
	void *result = input(x, &x->strips[l], n - 1, k);
	void **inputs = zfold_add(s, n, result, zsegments_count(&x->g, k), x->sum.type, x->sum.op);
	for (int p = 0; inputs && p < n; p++)
		inputs[p] = input(x, &x->strips[l], p, k);
	return inputs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Scatters segment k from its leader to the members whose slots it has a piece of. */
static int scatter(struct zsched *s, const struct ztaking *x, const struct strip *strip, int k)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Count low = x->slots.first + x->g.each * k, high = low + zsegments_count(&x->g, k);
	struct zcounts out;
	int me = zcomm_shadow_rank(c, c->rank), rc = zcounts_make(s, &out);
	if (rc != MPI_SUCCESS)
		return rc;
	for (int i = 0; i < c->nlocal; i++) {
		const MPI_Count *edge = &x->slots.edges[i];
		MPI_Count from = edge[0] > low ? edge[0] : low, to = edge[1] < high ? edge[1] : high;
		out.of[i] = to > from ? to - from : 0;
	}
	zcounts_place(s, &out);
	MPI_Count at = low > x->slots.edges[me] && out.of[me] > 0 ? low - x->slots.edges[me] : 0;
	return zinside_scatterv(s, strip->mine ? input(x, strip, x->from->nparts - 1, k) : NULL, out.of, out.at,
		x->sum.type, zbuf_at(x->recvbuf, at, x->g.extent), out.of[me], x->sum.type, strip->root);
}

static int take_and_spread(struct zsched *s, const struct ztaking *x, int l, int k)
{
	int rc = x->strips[l].mine && x->from->nparts > 1 ? combine(s, x, l, k) : MPI_SUCCESS;
	if (x->sum.to == ZGROUPSUM_SHARE && rc == MPI_SUCCESS)
		return x->result ? MPI_SUCCESS : scatter(s, x, &x->strips[l], k);
	if (rc != MPI_SUCCESS || x->sum.to >= 0 || zsched_comm(s)->nlocal == 1)
		return rc;
	return zinside_bcast(s, zsegments_at(&x->g, x->result, k), zsegments_count(&x->g, k), x->sum.type,
		x->strips[l].root);
}

int ztaking_receive(struct zsched *s, const struct ztaking *x, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k >= 0 && x->strips[l].mine)
			rc = receive(s, x, l, k);
	}
	return rc;
}

int ztaking_spread(struct zsched *s, const struct ztaking *x, int i)
{
	int rc = MPI_SUCCESS;
	for (int l = 0; l < x->g.strips && rc == MPI_SUCCESS; l++) {
		int k = zsegments_number(&x->g, i, l);
		if (k >= 0)
			rc = take_and_spread(s, x, l, k);
	}
	return rc;
}

int ztaking_land(struct zsched *s, const struct ztaking *x, int i)
{
	return zflight_land_strips(x->flights, s, &x->g, i);
}

const struct zsegments *ztaking_segments(const struct ztaking *x)
{
	return &x->g;
}
