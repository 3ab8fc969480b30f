/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling and checking buffers, see coll_data.h. */
#include "zipbench/coll/coll_data.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

double coll_data_memory(const struct coll_op *op, int ranks, double bytes)
{
	return bytes * ((op->to_each ? ranks : 1) + (op->from_each ? ranks : 1));
}

static size_t send_bytes(const struct coll_data *c, const struct coll_op *op)
{
	return c->bytes * (size_t)(op->to_each ? c->ranks : 1);
}

static size_t recv_bytes(const struct coll_data *c, const struct coll_op *op)
{
	return c->bytes * (size_t)(op->from_each ? c->ranks : 1);
}

/* Operations that move have bytes. Reductions add up doubles if the length allows it. */
static size_t choose_type(struct coll_data *c, const struct coll_op *op)
{
	size_t size = 1;
	c->type = MPI_BYTE;
	if (op->flow == COLL_REDUCES) {
		size = c->bytes % sizeof(double) == 0  ? sizeof(double)
		       : c->bytes % sizeof(float) == 0 ? sizeof(float)
						       : 1;
		c->type = size == sizeof(double) ? MPI_DOUBLE : size == sizeof(float) ? MPI_FLOAT : MPI_INT8_T;
	}
	c->count = (int)(c->bytes / size);
	return size;
}

bool coll_data_init(struct coll_data *c, const struct coll_op *op)
{
	const size_t n = (size_t)c->ranks;
	choose_type(c, op);
	/* a spare byte each, so that no size is 0 */
	c->send = malloc(send_bytes(c, op) + 1);
	c->recv = malloc(recv_bytes(c, op) + 1);
	c->counts = malloc(3 * n * sizeof(int));
	c->types = malloc(n * sizeof(MPI_Datatype));
	if (!c->send || !c->recv || !c->counts || !c->types) {
		coll_data_free(c);
		return false;
	}
	c->displs = c->counts + n;
	c->displs_bytes = c->displs + n;
	for (int r = 0; r < c->ranks; r++) {
		c->counts[r] = c->count;
		c->displs[r] = r * c->count;
		c->displs_bytes[r] = (int)((size_t)r * c->bytes);
		c->types[r] = c->type;
	}
	return true;
}

void coll_data_free(struct coll_data *c)
{
	free(c->send);
	free(c->recv);
	free(c->counts);
	free(c->types);
	c->send = c->recv = NULL;
	c->counts = NULL;
	c->types = NULL;
}

/* The byte that `from` sends to `to`. */
static char byte_at(int from, int to, size_t i)
{
	return (char)(from * 37 + to * 11 + (int)(i % 251) + (int)(i >> 12) + 1);
}

/* A summand, so small that sums are exact in every type and order. */
static int summand(const struct coll_data *c, int from, int to, size_t i)
{
	return (from + to * 5 + (int)(i % 97)) % (c->type == MPI_INT8_T ? 2 : 7);
}

static void put(const struct coll_data *c, char *at, size_t i, int v)
{
	if (c->type == MPI_DOUBLE)
		((double *)(void *)at)[i] = v;
	else if (c->type == MPI_FLOAT)
		((float *)(void *)at)[i] = (float)v;
	else
		at[i] = (char)v;
}

static double get(const struct coll_data *c, const char *at, size_t i)
{
	if (c->type == MPI_DOUBLE)
		return ((const double *)(const void *)at)[i];
	return c->type == MPI_FLOAT ? (double)((const float *)(const void *)at)[i] : (double)(signed char)at[i];
}

void coll_data_fill(const struct coll_data *c, const struct coll_op *op)
{
	/* a broadcast has one buffer */
	char *out = op->root_sends && !op->to_each ? c->recv : c->send;
	memset(c->recv, 0x5a, recv_bytes(c, op));
	if (op->flow == COLL_NOTHING || (op->root_sends && c->rank != COLL_ROOT))
		return;
	for (int to = 0; to < (op->to_each ? c->ranks : 1); to++) {
		char *block = out + (size_t)to * c->bytes;
		if (op->flow == COLL_MOVES)
			for (size_t i = 0; i < c->bytes; i++)
				block[i] = byte_at(c->rank, to, i);
		else
			for (size_t i = 0; i < (size_t)c->count; i++)
				put(c, block, i, summand(c, c->rank, to, i));
	}
}

static size_t check_moved(const struct coll_data *c, const struct coll_op *op)
{
	size_t wrong = 0;
	for (int k = 0; k < (op->from_each ? c->ranks : 1); k++) {
		const char *block = c->recv + (size_t)k * c->bytes;
		for (size_t i = 0; i < c->bytes; i++)
			wrong += block[i] != byte_at(op->from_each ? k : COLL_ROOT, op->to_each ? c->rank : 0, i);
	}
	return wrong;
}

static size_t check_reduced(const struct coll_data *c, const struct coll_op *op)
{
	const bool scan = strcmp(op->name, "scan") == 0, exscan = strcmp(op->name, "exscan") == 0;
	const int last = exscan ? c->rank - 1 : scan ? c->rank : c->ranks - 1;
	size_t wrong = 0;
	if (last < 0) /* undefined */
		return 0;
	for (size_t i = 0; i < (size_t)c->count; i++) {
		int sum = 0;
		for (int from = 0; from <= last; from++)
			sum += summand(c, from, op->to_each ? c->rank : 0, i);
		wrong += get(c, c->recv, i) != sum;
	}
	return wrong;
}

size_t coll_data_check(const struct coll_data *c, const struct coll_op *op)
{
	if (op->flow == COLL_NOTHING || (op->root_gets && c->rank != COLL_ROOT))
		return 0;
	return op->flow == COLL_MOVES ? check_moved(c, op) : check_reduced(c, op);
}
