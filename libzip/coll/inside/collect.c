/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data of my part's members, collected packed at one or several leaders. Where the sizes can differ, members tell
 * them first: to the leader alone, or to all members where the sizes decide how many leaders there are.
 */
#include "libzip/coll/inside/collect.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/counts.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/coll/inside/shared.h"
#include "libzip/schedule/step.h"

/* A call, kept until the sizes are known. */
struct collect {
	zcollect_leaders *leaders;
	zcollect_then *then;
	void *arg;
	char *wire; /* my own contribution */
	int64_t bytes;
	int64_t *all_bytes; /* [nlocal] */
};

static int to_one(struct zsched *s, const struct collect *g)
{
	struct zcomm *c = zsched_comm(s);
	struct zcounts k;
	int rc = zcounts_make(s, &k);
	if (rc != MPI_SUCCESS)
		return rc;
	for (int i = 0; i < c->nlocal; i++)
		k.of[i] = g->all_bytes[i];
	MPI_Count total = zcounts_place(s, &k);
	char *all = zsched_alloc(s, (size_t)total);
	if (!all)
		return MPI_ERR_NO_MEM;
	rc = zinside_gatherv(s, g->wire, g->bytes, MPI_BYTE, all, k.of, k.at, MPI_BYTE, 0);
	zsched_round(s);
	return rc == MPI_SUCCESS ? g->then(s, g->arg, &(struct zcollected){all, total, MPI_BYTE, 1, 0}) : rc;
}

static int from_member(struct zsched *s, const struct collect *g)
{
	int rc = zinside_gatherv(s, g->wire, g->bytes, MPI_BYTE, NULL, NULL, NULL, MPI_BYTE, 0);
	zsched_round(s);
	return rc == MPI_SUCCESS ? g->then(s, g->arg, NULL) : rc;
}

/* Each member gives its data to one leader. A leader in charge of itself alone needs no copy. */
static int to_several(struct zsched *s, const struct collect *g, int leaders)
{
	struct zcomm *c = zsched_comm(s);
	struct zcollected piece = {.buf = g->wire,
		.count = g->bytes,
		.type = MPI_BYTE,
		.leaders = leaders,
		.number = zleader_number(c, leaders)};
	struct zcounts out, in;
	int members, leader = zleader_mine(c, leaders, &members), rc = zcounts_make(s, &out);
	char *all = NULL;
	if (rc == MPI_SUCCESS)
		rc = zcounts_make(s, &in);
	if (rc != MPI_SUCCESS)
		return rc;
	if (members > 1)
		out.of[leader] = g->bytes;
	for (int i = leader; i < leader + members && members > 1 && piece.number >= 0; i++)
		in.of[i] = g->all_bytes[i];
	MPI_Count total = zcounts_place(s, &in);
	if (total > 0) {
		all = zsched_alloc(s, (size_t)total);
		if (!all)
			return MPI_ERR_NO_MEM;
		piece.buf = all;
		piece.count = total;
	}
	if (leaders < c->nlocal)
		rc = zinside_alltoallv(s, g->wire, out.of, out.at, MPI_BYTE, all, in.of, in.at, MPI_BYTE);
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
	return zleader_is_me(zsched_comm(s)) ? to_one(s, g) : from_member(s, g);
}

/* All members learn all sizes. */
static int tell_all(struct zsched *s, struct collect *g)
{
	struct zcomm *c = zsched_comm(s);
	const struct zshared_vectors all = {.buf = g->all_bytes, .count = 1, .type = MPI_INT64_T};
	struct zcounts k;
	if (zshared_fits(c, 1, MPI_INT64_T))
		return zshared_allgather(s, &g->bytes, 1, MPI_INT64_T, &all);
	int rc = zcounts_make(s, &k);
	if (rc != MPI_SUCCESS)
		return rc;
	for (int i = 0; i < c->nlocal; i++)
		k.of[i] = 1;
	zcounts_place(s, &k);
	return zinside_allgatherv(s, &g->bytes, 1, MPI_INT64_T, g->all_bytes, k.of, k.at, MPI_INT64_T);
}

static int part_vector(struct zsched *s, struct collect *g)
{
	int rc;
	if (g->leaders)
		rc = tell_all(s, g);
	else
		rc = zinside_gather(s, &g->bytes, 1, MPI_INT64_T, g->all_bytes, 1, MPI_INT64_T, 0);
	zsched_round(s);
	if (rc != MPI_SUCCESS)
		return rc;
	return g->leaders || zleader_is_me(zsched_comm(s)) ? zstep_call(s, collect_bytes, g) : from_member(s, g);
}

/* All sizes are the same, and so are known. */
static int part_regular(struct zsched *s, struct collect *g)
{
	struct zcomm *c = zsched_comm(s);
	char *all = NULL;
	for (int i = 0; i < c->nlocal; i++)
		g->all_bytes[i] = g->bytes;
	int leaders = leaders_of(s, g);
	if (leaders > 1)
		return to_several(s, g, leaders);
	if (zleader_is_me(c)) {
		all = zsched_alloc(s, (size_t)(g->bytes * c->nlocal));
		if (!all)
			return MPI_ERR_NO_MEM;
	}
	int rc = zinside_gather(s, g->wire, g->bytes, MPI_BYTE, all, g->bytes, MPI_BYTE, 0);
	zsched_round(s);
	if (rc != MPI_SUCCESS)
		return rc;
	return g->then(s, g->arg, all ? &(struct zcollected){all, g->bytes * c->nlocal, MPI_BYTE, 1, 0} : NULL);
}

int zcollect_part(struct zsched *s, const struct zcoll *a, zcollect_leaders *leaders, zcollect_then *then, void *arg)
{
	struct zcomm *c = zsched_comm(s);
	char *wire;
	MPI_Count bytes;
	if (c->nlocal == 1)
		return then(s, arg, &(struct zcollected){a->sendbuf, a->sendcount, a->sendtype, 1, 0});
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
