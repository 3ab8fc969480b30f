/* SPDX-License-Identifier: BSD-3-Clause */
/* MMPI in the processes of the two groups; see mmpi.h. */
#include "zipbench/mmpi/mmpi.h"

#include <limits.h>
#include <stdlib.h>

#include "zipbench/mmpi/fatal.h"
#include "zipbench/mmpi/forwarder.h"
#include "zipbench/mmpi/protocol.h"

#define TAG_COLLECTIVE 0x7000 /* of the messages of alltoall */

static struct mmpi mm;
static MPI_Comm local = MPI_COMM_NULL; /* this process' group without the forwarder */
static int me;			       /* virtual rank */
static int first, nlocal;	       /* virtual ranks of this group: first to first + nlocal - 1 */

/* A communicator of these ranks of the world, with the forwarder in front or without it. It is not collective over the
 * world, as the two groups cannot reach each other. */
static MPI_Comm split_off(int from, int to, bool with_forwarder)
{
	MPI_Group world, group;
	MPI_Comm comm;
	int ranges[2][3] = {{FORWARDER, FORWARDER, 1}, {from, to, 1}};
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_range_incl(world, with_forwarder ? 2 : 1, with_forwarder ? ranges : ranges + 1, &group);
	MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	return comm;
}

bool mmpi_begin(int nlow)
{
	int rank, size;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (nlow < 1 || nlow > size - 2) {
		if (rank == FORWARDER)
			fatal("%d ranks are no forwarder, a low group of %d and a high one", size, nlow);
		MPI_Recv(&rank, 1, MPI_INT, FORWARDER, 0, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE); /* the forwarder ends the job */
	}
	mm = (struct mmpi){.wire = MPI_COMM_WORLD,
		.nlow = nlow,
		.size = size - 1,
		.group = {MPI_COMM_NULL, MPI_COMM_NULL}};
	const bool forwarder = rank == FORWARDER, high = rank > nlow;
	for (int g = 0; g < 2; g++)
		if (forwarder || high == g)
			mm.group[g] = split_off(g ? nlow + 1 : 1, g ? mm.size : nlow, true);
	if (!forwarder)
		local = split_off(high ? nlow + 1 : 1, high ? mm.size : nlow, false);
	if (forwarder) {
		forwarder_run(&mm);
		mmpi_end();
		return false;
	}
	me = rank - 1;
	first = high ? nlow : 0;
	nlocal = high ? mm.size - nlow : nlow;
	return true;
}

void mmpi_end(void)
{
	if (local != MPI_COMM_NULL) {
		int request[REQUEST_FIELDS] = {[FIELD_KIND] = REQUEST_END};
		MPI_Send(request, REQUEST_FIELDS, MPI_INT, FORWARDER, TAG_REQUEST, mm.wire);
		MPI_Comm_free(&local);
	}
	for (int g = 0; g < 2; g++)
		if (mm.group[g] != MPI_COMM_NULL)
			MPI_Comm_free(&mm.group[g]);
}

static void check_comm(MPI_Comm comm)
{
	if (comm != MPI_COMM_WORLD)
		fatal("only MPI_COMM_WORLD is implemented");
}

int MMPI_Comm_rank(MPI_Comm comm, int *rank)
{
	check_comm(comm);
	*rank = me;
	return MPI_SUCCESS;
}

int MMPI_Comm_size(MPI_Comm comm, int *size)
{
	check_comm(comm);
	*size = mm.size;
	return MPI_SUCCESS;
}

static bool is_local(int vrank)
{
	if (vrank < 0 || vrank >= mm.size)
		fatal("there is no rank %d (wildcards are not implemented)", vrank);
	return vrank >= first && vrank < first + nlocal;
}

static MPI_Comm my_group(void)
{
	return mm.group[first > 0];
}

/* Blocks until the forwarder has answered. Returns the identifier. */
static int handshake(enum request_kind kind, int vrank, int tag, int count, MPI_Datatype type, MPI_Op op)
{
	int id, size = 0;
	if (type != MPI_DATATYPE_NULL)
		MPI_Type_size(type, &size);
	if ((long long)count * size > INT_MAX)
		fatal("a message of %lld bytes is too long", (long long)count * size);
	int request[REQUEST_FIELDS] = {[FIELD_KIND] = kind,
		[FIELD_VRANK] = vrank,
		[FIELD_TAG] = tag,
		[FIELD_BYTES] = count * size,
		[FIELD_COUNT] = count,
		[FIELD_TYPE] = MPI_Type_c2f(type),
		[FIELD_OP] = MPI_Op_c2f(op)};
	MPI_Send(request, REQUEST_FIELDS, MPI_INT, FORWARDER, TAG_REQUEST, mm.wire);
	MPI_Recv(&id, 1, MPI_INT, FORWARDER, TAG_ID, mm.wire, MPI_STATUS_IGNORE);
	return id;
}

/* --- point to point (section 3.3) --- */
static int send_id(int count, MPI_Datatype type, int dest, int tag)
{
	return handshake(REQUEST_SEND, dest, tag, count, type, MPI_OP_NULL);
}

static int recv_id(int count, MPI_Datatype type, int source, int tag)
{
	if (tag < 0)
		fatal("tag %d: wildcards are not implemented", tag);
	return handshake(REQUEST_RECV, source, tag, count, type, MPI_OP_NULL);
}

int MMPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	check_comm(comm);
	if (is_local(dest))
		return MPI_Send(buf, count, type, dest - first, tag, local);
	return MPI_Send(buf, count, type, FORWARDER, send_id(count, type, dest, tag), mm.wire);
}

int MMPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	check_comm(comm);
	if (is_local(source))
		return MPI_Recv(buf, count, type, source - first, tag, local, status);
	return MPI_Recv(buf, count, type, FORWARDER, recv_id(count, type, source, tag), mm.wire, status);
}

int MMPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *r)
{
	check_comm(comm);
	if (is_local(dest))
		return MPI_Isend(buf, count, type, dest - first, tag, local, r);
	return MPI_Isend(buf, count, type, FORWARDER, send_id(count, type, dest, tag), mm.wire, r);
}

int MMPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *r)
{
	check_comm(comm);
	if (is_local(source))
		return MPI_Irecv(buf, count, type, source - first, tag, local, r);
	return MPI_Irecv(buf, count, type, FORWARDER, recv_id(count, type, source, tag), mm.wire, r);
}

/* --- barrier: local, the lowest ranks through the forwarder, local (section 3.4) --- */
int MMPI_Barrier(MPI_Comm comm)
{
	check_comm(comm);
	MPI_Barrier(local);
	if (me == first)
		handshake(REQUEST_BARRIER, 0, 0, 0, MPI_DATATYPE_NULL, MPI_OP_NULL);
	return MPI_Barrier(local);
}

/* --- broadcast: to the forwarder, and from it by native broadcasts, in which the root takes part too (section 3.5) ---
 */
int MMPI_Bcast(void *buf, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
	check_comm(comm);
	is_local(root); /* checks the range */
	if (me == root) {
		int id = handshake(REQUEST_BCAST, root, 0, count, type, MPI_OP_NULL);
		MPI_Send(buf, count, type, FORWARDER, id, mm.wire);
	}
	return MPI_Bcast(buf, count, type, FORWARDER, my_group());
}

/* --- all to all: native inside, nonblocking sends and blocking receives across (section 3.6) --- */
struct block { /* the blocks of a buffer of Alltoall or Alltoallv */
	char *base;
	const int *counts, *displs; /* NULL: each block has count */
	int count;
	MPI_Datatype type;
	MPI_Aint extent;
};

static struct block block_of(const void *base, int count, const int *counts, const int *displs, MPI_Datatype type)
{
	MPI_Aint lower;
	struct block b = {.base = (char *)(size_t)base,
		.counts = counts,
		.displs = displs,
		.count = count,
		.type = type};
	MPI_Type_get_extent(type, &lower, &b.extent);
	return b;
}

static char *block_at(const struct block *b, int vrank)
{
	return b->base + b->extent * (b->displs ? b->displs[vrank] : (MPI_Aint)vrank * b->count);
}

static int block_count(const struct block *b, int vrank)
{
	return b->counts ? b->counts[vrank] : b->count;
}

static void exchange_remote(const struct block *s, const struct block *r)
{
	const int nremote = mm.size - nlocal, start = first > 0 ? 0 : mm.nlow;
	MPI_Request *sends = malloc((size_t)nremote * sizeof(MPI_Request));
	if (!sends)
		fatal("out of memory");
	for (int i = 0; i < nremote; i++)
		MMPI_Isend(block_at(s, start + i), block_count(s, start + i), s->type, start + i, TAG_COLLECTIVE,
			MPI_COMM_WORLD, &sends[i]);
	for (int i = 0; i < nremote; i++)
		MMPI_Recv(block_at(r, start + i), block_count(r, start + i), r->type, start + i, TAG_COLLECTIVE,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < nremote; i++)
		MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
	free(sends);
}

int MMPI_Alltoall(const void *sbuf, int scount, MPI_Datatype stype, void *rbuf, int rcount, MPI_Datatype rtype,
	MPI_Comm comm)
{
	check_comm(comm);
	struct block s = block_of(sbuf, scount, NULL, NULL, stype), r = block_of(rbuf, rcount, NULL, NULL, rtype);
	MPI_Alltoall(block_at(&s, first), scount, stype, block_at(&r, first), rcount, rtype, local);
	exchange_remote(&s, &r);
	return MPI_SUCCESS;
}

int MMPI_Alltoallv(const void *sbuf, const int *scounts, const int *sdispls, MPI_Datatype stype, void *rbuf,
	const int *rcounts, const int *rdispls, MPI_Datatype rtype, MPI_Comm comm)
{
	check_comm(comm);
	struct block s = block_of(sbuf, 0, scounts, sdispls, stype), r = block_of(rbuf, 0, rcounts, rdispls, rtype);
	MPI_Alltoallv(sbuf, scounts + first, sdispls + first, stype, rbuf, rcounts + first, rdispls + first, rtype,
		local);
	exchange_remote(&s, &r);
	return MPI_SUCCESS;
}

/* --- reductions: native inside; the forwarder combines the two results (section 3.7) --- */
static void *partial(const void *sbuf, int count, MPI_Datatype type, MPI_Op op, int lroot)
{
	MPI_Aint lower, extent;
	MPI_Type_get_extent(type, &lower, &extent);
	void *result = NULL;
	if (sbuf == MPI_IN_PLACE)
		fatal("MPI_IN_PLACE is not implemented");
	if (me == first + lroot && !(result = malloc((size_t)extent * (size_t)count + 1)))
		fatal("out of memory");
	MPI_Reduce(sbuf, result, count, type, op, lroot, local);
	return result;
}

int MMPI_Reduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
	check_comm(comm);
	void *result = partial(sbuf, count, type, op, is_local(root) ? root - first : 0);
	if (!result)
		return MPI_SUCCESS;
	int id = handshake(REQUEST_REDUCE, root, 0, count, type, op);
	MPI_Send(result, count, type, FORWARDER, id, mm.wire);
	if (me == root)
		MPI_Recv(rbuf, count, type, FORWARDER, id, mm.wire, MPI_STATUS_IGNORE);
	free(result);
	return MPI_SUCCESS;
}

int MMPI_Allreduce(const void *sbuf, void *rbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	check_comm(comm);
	void *result = partial(sbuf, count, type, op, 0);
	if (result) {
		int id = handshake(REQUEST_ALLREDUCE, 0, 0, count, type, op);
		MPI_Send(result, count, type, FORWARDER, id, mm.wire);
		free(result);
	}
	return MPI_Bcast(rbuf, count, type, FORWARDER, my_group());
}
