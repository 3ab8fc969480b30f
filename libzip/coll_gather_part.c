/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the members of my part have, collected at one or several of them, packed: see coll_gather.h. Where the sizes
 * need not be alike they are told first: to the leader alone, or to all where they say how many leaders there are.
 */
#include "coll_board.h"
#include "coll_data.h"
#include "coll_gather.h"
#include "coll_native.h"

/* What is kept of a call until the sizes are known. */
struct collect {
	zgather_leaders *leaders;
	zgather_then *then;
	void *arg;
	char *wire; /* my own contribution */
	int64_t bytes;
	int64_t *all_bytes; /* [nlocal] */
};

static int to_one(struct zsched *s, const struct collect *g)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Count *counts = zsched_alloc(s, (size_t)c->nlocal * sizeof *counts), total = 0;
	MPI_Aint *displs = zsched_alloc(s, (size_t)c->nlocal * sizeof *displs);
	if (!counts || !displs)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < c->nlocal; i++) {
		counts[i] = g->all_bytes[i];
		displs[i] = (MPI_Aint)total;
		total += counts[i];
	}
	char *all = zsched_alloc(s, (size_t)total);
	if (!all)
		return MPI_ERR_NO_MEM;
	int rc = znative_gatherv(s, g->wire, g->bytes, MPI_BYTE, all, counts, displs, MPI_BYTE, 0);
	zsched_round(s);
	return rc == MPI_SUCCESS ? g->then(s, g->arg, &(struct zpiece){all, total, MPI_BYTE, 1, 0}) : rc;
}

static int from_member(struct zsched *s, const struct collect *g)
{
	int rc = znative_gatherv(s, g->wire, g->bytes, MPI_BYTE, NULL, NULL, NULL, MPI_BYTE, 0);
	zsched_round(s);
	return rc == MPI_SUCCESS ? g->then(s, g->arg, NULL) : rc;
}

/* Everybody gives one leader; one that has itself alone to lead needs no copy. */
static int to_several(struct zsched *s, const struct collect *g, int leaders)
{
	struct zcomm *c = zsched_comm(s);
	size_t n = (size_t)c->nlocal;
	int me = c->shadow_rank[c->rank], rc = MPI_SUCCESS;
	struct zpiece piece = {.buf = g->wire, .count = g->bytes, .type = MPI_BYTE, .leaders = leaders, .number = -1};
	MPI_Count *counts = zsched_alloc(s, 2 * n * sizeof *counts), total = 0;
	MPI_Aint *displs = zsched_alloc(s, 2 * n * sizeof *displs);
	char *all = NULL;
	if (!counts || !displs)
		return MPI_ERR_NO_MEM;
	for (size_t i = 0; i < 2 * n; i++) {
		counts[i] = 0;
		displs[i] = 0;
	}
	for (int a = 0; a < leaders; a++) {
		int low = zcoll_first(c->nlocal, leaders, a), high = zcoll_first(c->nlocal, leaders, a + 1);
		if (low == me)
			piece.number = a;
		if (high == low + 1)
			continue;
		if (me >= low && me < high)
			counts[low] = g->bytes;
		for (int i = low; i < high && low == me; i++) {
			counts[n + (size_t)i] = g->all_bytes[i];
			displs[n + (size_t)i] = (MPI_Aint)total;
			total += g->all_bytes[i];
		}
	}
	if (total > 0) {
		all = zsched_alloc(s, (size_t)total);
		if (!all)
			return MPI_ERR_NO_MEM;
		piece.buf = all;
		piece.count = total;
	}
	if (leaders < c->nlocal)
		rc = znative_alltoallv(s, g->wire, counts, displs, MPI_BYTE, all, counts + n, displs + n, MPI_BYTE);
	zsched_round(s);
	return rc == MPI_SUCCESS ? g->then(s, g->arg, piece.number >= 0 ? &piece : NULL) : rc;
}

static int leaders_of(struct zsched *s, const struct collect *g)
{
	MPI_Count total = 0;
	for (int i = 0; i < zsched_comm(s)->nlocal && g->leaders; i++)
		total += g->all_bytes[i];
	return g->leaders ? g->leaders(s, g->arg, total) : 1;
}

/* The sizes are known: collect the bytes. */
static int collect_bytes(struct zsched *s, void *arg)
{
	const struct collect *g = arg;
	int leaders = leaders_of(s, g);
	if (leaders > 1)
		return to_several(s, g, leaders);
	return zcoll_is_leader(zsched_comm(s)) ? to_one(s, g) : from_member(s, g);
}

/* Everybody's size to everybody. */
static int tell_all(struct zsched *s, struct collect *g)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Count *counts = zsched_alloc(s, (size_t)c->nlocal * sizeof *counts);
	MPI_Aint *displs = zsched_alloc(s, (size_t)c->nlocal * sizeof *displs);
	const struct zshared_vectors all = {.buf = g->all_bytes,
		.counts = counts,
		.displs = displs,
		.type = MPI_INT64_T};
	if (!counts || !displs)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < c->nlocal; i++) {
		counts[i] = 1;
		displs[i] = i;
	}
	if (zshared_fits(c, 1, MPI_INT64_T))
		return zshared_allgather(s, &g->bytes, 1, MPI_INT64_T, &all);
	return znative_allgatherv(s, &g->bytes, 1, MPI_INT64_T, g->all_bytes, counts, displs, MPI_INT64_T);
}

static int part_vector(struct zsched *s, struct collect *g)
{
	int rc;
	if (g->leaders)
		rc = tell_all(s, g);
	else
		rc = znative_gather(s, &g->bytes, 1, MPI_INT64_T, g->all_bytes, 1, MPI_INT64_T, 0);
	zsched_round(s);
	if (rc != MPI_SUCCESS)
		return rc;
	return g->leaders || zcoll_is_leader(zsched_comm(s)) ? zsched_call(s, collect_bytes, g) : from_member(s, g);
}

/* All sizes alike: they are known. */
static int part_regular(struct zsched *s, struct collect *g)
{
	struct zcomm *c = zsched_comm(s);
	char *all = NULL;
	for (int i = 0; i < c->nlocal; i++)
		g->all_bytes[i] = g->bytes;
	int leaders = leaders_of(s, g);
	if (leaders > 1)
		return to_several(s, g, leaders);
	if (zcoll_is_leader(c)) {
		all = zsched_alloc(s, (size_t)(g->bytes * c->nlocal));
		if (!all)
			return MPI_ERR_NO_MEM;
	}
	int rc = znative_gather(s, g->wire, g->bytes, MPI_BYTE, all, g->bytes, MPI_BYTE, 0);
	zsched_round(s);
	if (rc != MPI_SUCCESS)
		return rc;
	return g->then(s, g->arg, all ? &(struct zpiece){all, g->bytes * c->nlocal, MPI_BYTE, 1, 0} : NULL);
}

int zgather_part(struct zsched *s, const struct zcoll *a, zgather_leaders *leaders, zgather_then *then, void *arg)
{
	struct zcomm *c = zsched_comm(s);
	char *wire;
	MPI_Count bytes;
	if (c->nlocal == 1)
		return then(s, arg, &(struct zpiece){a->sendbuf, a->sendcount, a->sendtype, 1, 0});
	int rc = zbuf_wire(s, a->sendbuf, a->sendcount, a->sendtype, &wire, &bytes);
	if (rc == MPI_SUCCESS && wire != a->sendbuf)
		rc = zbuf_pack(a->sendbuf, a->sendcount, a->sendtype, wire);
	if (rc != MPI_SUCCESS)
		return rc;
	struct collect *g = zsched_alloc(s, sizeof *g);
	if (!g)
		return MPI_ERR_NO_MEM;
	*g = (struct collect){.leaders = leaders,
		.then = then,
		.arg = arg,
		.wire = wire,
		.bytes = bytes,
		.all_bytes = zsched_alloc(s, (size_t)c->nlocal * sizeof(int64_t))};
	if (!g->all_bytes)
		return MPI_ERR_NO_MEM;
	return a->vector ? part_vector(s, g) : part_regular(s, g);
}
