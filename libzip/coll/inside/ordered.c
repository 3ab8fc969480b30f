/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans inside a part that always combine in one order. */
#include "libzip/coll/inside/ordered.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/inside/shared.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/type/redop.h"

struct gathered { /* each member gets all vectors, and combines them as it would those on a board */
	MPI_Comm comm;
	const void *own;
	void *result, *all;
	MPI_Count count;
	MPI_Datatype type;
	MPI_Op op;
	int me;
	bool exclusive;
	int step; /* number of the step that gathers */
};

static int start_allgather(void *arg, MPI_Request *r)
{
	struct gathered *g = arg;
	return zn.Iallgather_c(g->own, g->count, g->type, g->all, g->count, g->type, g->comm, r);
}

static int fold(const struct gathered *g)
{
	int first = g->exclusive ? g->me - 1 : g->me, rc = MPI_SUCCESS;
	MPI_Aint extent = zbuf_extent(g->type);
	if (first < 0)
		return MPI_SUCCESS;
	zbuf_copy_span(zbuf_at(g->all, first * g->count, extent), g->result, g->count, g->type);
	for (int at = first - 1; at >= 0 && rc == MPI_SUCCESS; at--)
		rc = zbuf_reduce(zbuf_at(g->all, at * g->count, extent), g->result, g->count, g->type, g->op);
	return rc;
}

static bool look(struct zsched *s, void *arg)
{
	const struct gathered *g = arg;
	if (!zstep_is_done(s, g->step))
		return false;
	int rc = zsched_failed(s) ? MPI_SUCCESS : fold(g);
	if (rc != MPI_SUCCESS)
		zsched_fail(s, rc, NULL);
	return true;
}

static int add_gathered(struct zsched *s, const struct gathered *given)
{
	struct zcomm *c = zsched_comm(s);
	struct gathered *g = zsched_alloc(s, sizeof *g);
	if (!g)
		return MPI_ERR_NO_MEM;
	*g = *given;
	g->comm = c->shadow;
	g->me = zcomm_shadow_rank(c, c->rank);
	g->step = zstep_next(s);
	int rc = zbuf_temp(s, g->count * c->nlocal, g->type, &g->all);
	if (rc == MPI_SUCCESS)
		rc = zstep_native(s, start_allgather, g);
	return rc == MPI_SUCCESS ? zstep_watch(s, look, g) : rc;
}

bool zordered_scans(const struct zsched *s, MPI_Count count, MPI_Datatype type, MPI_Op op)
{
	return zredop_is_predefined(op) && zbuf_is_contiguous(type) && zshared_could_fit(zsched_comm(s), count, type);
}

int zordered_scan(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
	bool exclusive)
{
	if (zsched_comm(s)->board)
		return zshared_scan(s, sendbuf, recvbuf, count, type, op, exclusive);
	return add_gathered(s, &(struct gathered){.own = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf,
				       .result = recvbuf,
				       .count = count,
				       .type = type,
				       .op = op,
				       .exclusive = exclusive});
}
