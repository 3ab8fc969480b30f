/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of collective operations; see coll_op.h. */
#include "zipbench/coll/coll_op.h"

#include <string.h>

#include "zipbench/coll/coll_data.h"
#include "zipbench/mmpi/mmpi.h"

#define WORLD MPI_COMM_WORLD

static void barrier(const struct coll_data *c, MPI_Request *r)
{
	(void)c;
	r ? MPI_Ibarrier(WORLD, r) : MPI_Barrier(WORLD);
}

static void bcast(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Ibcast(c->recv, c->count, c->type, COLL_ROOT, WORLD, r)
	  : MPI_Bcast(c->recv, c->count, c->type, COLL_ROOT, WORLD);
}

static void gather(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Igather(c->send, c->count, c->type, c->recv, c->count, c->type, COLL_ROOT, WORLD, r)
	  : MPI_Gather(c->send, c->count, c->type, c->recv, c->count, c->type, COLL_ROOT, WORLD);
}

static void gatherv(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Igatherv(c->send, c->count, c->type, c->recv, c->counts, c->displs, c->type, COLL_ROOT, WORLD, r)
	  : MPI_Gatherv(c->send, c->count, c->type, c->recv, c->counts, c->displs, c->type, COLL_ROOT, WORLD);
}

static void scatter(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Iscatter(c->send, c->count, c->type, c->recv, c->count, c->type, COLL_ROOT, WORLD, r)
	  : MPI_Scatter(c->send, c->count, c->type, c->recv, c->count, c->type, COLL_ROOT, WORLD);
}

static void scatterv(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Iscatterv(c->send, c->counts, c->displs, c->type, c->recv, c->count, c->type, COLL_ROOT, WORLD, r)
	  : MPI_Scatterv(c->send, c->counts, c->displs, c->type, c->recv, c->count, c->type, COLL_ROOT, WORLD);
}

static void allgather(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Iallgather(c->send, c->count, c->type, c->recv, c->count, c->type, WORLD, r)
	  : MPI_Allgather(c->send, c->count, c->type, c->recv, c->count, c->type, WORLD);
}

static void allgatherv(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Iallgatherv(c->send, c->count, c->type, c->recv, c->counts, c->displs, c->type, WORLD, r)
	  : MPI_Allgatherv(c->send, c->count, c->type, c->recv, c->counts, c->displs, c->type, WORLD);
}

static void alltoall(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Ialltoall(c->send, c->count, c->type, c->recv, c->count, c->type, WORLD, r)
	  : MPI_Alltoall(c->send, c->count, c->type, c->recv, c->count, c->type, WORLD);
}

static void alltoallv(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Ialltoallv(c->send, c->counts, c->displs, c->type, c->recv, c->counts, c->displs, c->type, WORLD, r)
	  : MPI_Alltoallv(c->send, c->counts, c->displs, c->type, c->recv, c->counts, c->displs, c->type, WORLD);
}

static void alltoallw(const struct coll_data *c, MPI_Request *r)
{
	const int *d = c->displs_bytes;
	r ? MPI_Ialltoallw(c->send, c->counts, d, c->types, c->recv, c->counts, d, c->types, WORLD, r)
	  : MPI_Alltoallw(c->send, c->counts, d, c->types, c->recv, c->counts, d, c->types, WORLD);
}

static void reduce(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Ireduce(c->send, c->recv, c->count, c->type, MPI_SUM, COLL_ROOT, WORLD, r)
	  : MPI_Reduce(c->send, c->recv, c->count, c->type, MPI_SUM, COLL_ROOT, WORLD);
}

static void allreduce(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Iallreduce(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD, r)
	  : MPI_Allreduce(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD);
}

static void reduce_scatter(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Ireduce_scatter(c->send, c->recv, c->counts, c->type, MPI_SUM, WORLD, r)
	  : MPI_Reduce_scatter(c->send, c->recv, c->counts, c->type, MPI_SUM, WORLD);
}

static void reduce_scatter_block(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Ireduce_scatter_block(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD, r)
	  : MPI_Reduce_scatter_block(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD);
}

static void scan(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Iscan(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD, r)
	  : MPI_Scan(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD);
}

static void exscan(const struct coll_data *c, MPI_Request *r)
{
	r ? MPI_Iexscan(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD, r)
	  : MPI_Exscan(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD);
}

/* To the last rank and back. */
static void pingpong(const struct coll_data *c, MPI_Request *r)
{
	const int last = c->ranks - 1;
	if (r)
		*r = MPI_REQUEST_NULL;
	if (c->rank == 0 && last > 0) {
		MPI_Send(c->recv, c->count, c->type, last, 0, WORLD);
		MPI_Recv(c->recv, c->count, c->type, last, 0, WORLD, MPI_STATUS_IGNORE);
	} else if (c->rank == last && last > 0) {
		MPI_Recv(c->recv, c->count, c->type, 0, 0, WORLD, MPI_STATUS_IGNORE);
		MPI_Send(c->recv, c->count, c->type, 0, 0, WORLD);
	}
}

/* --- what the thesis' MMPI has --- */
static void mmpi_barrier(const struct coll_data *c)
{
	(void)c;
	MMPI_Barrier(WORLD);
}

static void mmpi_bcast(const struct coll_data *c)
{
	MMPI_Bcast(c->recv, c->count, c->type, COLL_ROOT, WORLD);
}

static void mmpi_alltoall(const struct coll_data *c)
{
	MMPI_Alltoall(c->send, c->count, c->type, c->recv, c->count, c->type, WORLD);
}

static void mmpi_alltoallv(const struct coll_data *c)
{
	MMPI_Alltoallv(c->send, c->counts, c->displs, c->type, c->recv, c->counts, c->displs, c->type, WORLD);
}

static void mmpi_reduce(const struct coll_data *c)
{
	MMPI_Reduce(c->send, c->recv, c->count, c->type, MPI_SUM, COLL_ROOT, WORLD);
}

static void mmpi_allreduce(const struct coll_data *c)
{
	MMPI_Allreduce(c->send, c->recv, c->count, c->type, MPI_SUM, WORLD);
}

const struct coll_op coll_op_table[] = {
	{.name = "barrier", .flow = COLL_NOTHING, .run = barrier, .mmpi = mmpi_barrier},
	{.name = "bcast", .flow = COLL_MOVES, .root_sends = true, .run = bcast, .mmpi = mmpi_bcast},
	{.name = "gather", .flow = COLL_MOVES, .from_each = true, .root_gets = true, .run = gather},
	{.name = "gatherv", .flow = COLL_MOVES, .from_each = true, .root_gets = true, .run = gatherv},
	{.name = "scatter", .flow = COLL_MOVES, .to_each = true, .root_sends = true, .run = scatter},
	{.name = "scatterv", .flow = COLL_MOVES, .to_each = true, .root_sends = true, .run = scatterv},
	{.name = "allgather", .flow = COLL_MOVES, .from_each = true, .run = allgather},
	{.name = "allgatherv", .flow = COLL_MOVES, .from_each = true, .run = allgatherv},
	{.name = "alltoall",
		.flow = COLL_MOVES,
		.to_each = true,
		.from_each = true,
		.run = alltoall,
		.mmpi = mmpi_alltoall},
	{.name = "alltoallv",
		.flow = COLL_MOVES,
		.to_each = true,
		.from_each = true,
		.run = alltoallv,
		.mmpi = mmpi_alltoallv},
	{.name = "alltoallw", .flow = COLL_MOVES, .to_each = true, .from_each = true, .run = alltoallw},
	{.name = "reduce", .flow = COLL_REDUCES, .root_gets = true, .run = reduce, .mmpi = mmpi_reduce},
	{.name = "allreduce", .flow = COLL_REDUCES, .run = allreduce, .mmpi = mmpi_allreduce},
	{.name = "reduce_scatter", .flow = COLL_REDUCES, .to_each = true, .run = reduce_scatter},
	{.name = "reduce_scatter_block", .flow = COLL_REDUCES, .to_each = true, .run = reduce_scatter_block},
	{.name = "scan", .flow = COLL_REDUCES, .run = scan},
	{.name = "exscan", .flow = COLL_REDUCES, .run = exscan},
	{.name = "pingpong", .flow = COLL_MOVES, .root_sends = true, .root_gets = true, .extra = true, .run = pingpong},
};
const size_t coll_op_count = sizeof(coll_op_table) / sizeof(coll_op_table[0]);

const struct coll_op *coll_op_find(const char *name)
{
	for (size_t i = 0; i < coll_op_count; i++)
		if (strcmp(coll_op_table[i].name, name) == 0)
			return &coll_op_table[i];
	return NULL;
}
