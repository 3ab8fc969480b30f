/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer that holds one slot for each rank. */
#include "libzip/coll/base/slots.h"

#include "libzip/coll/base/buf.h"
#include "libzip/shim/shim.h"

static struct zslots make(const void *buf, MPI_Datatype type, bool vector, MPI_Count count, struct zvec counts,
	struct zvec displs)
{
	return (struct zslots){.buf = (char *)buf,
		.type = type,
		.extent = zbuf_extent(type),
		.vector = vector,
		.count = count,
		.counts = counts,
		.displs = displs};
}

struct zslots zslots_send(const struct zcoll *a)
{
	return make(a->sendbuf, a->sendtype, a->vector, a->sendcount, a->sendcounts, a->sdispls);
}

struct zslots zslots_recv(const struct zcoll *a)
{
	return make(a->recvbuf, a->recvtype, a->vector, a->recvcount, a->recvcounts, a->rdispls);
}

bool zslots_is_alone(const struct zslots *l, int rank, MPI_Count from)
{
	return from > 0 && zbuf_wire_bytes(zslots_count(l, rank), l->type) >= from;
}

int zslots_rest(struct zsched *s, const struct zslots *l, MPI_Count from, struct zslots *rest)
{
	const struct zcomm *c = zsched_partners(s);
	*rest = *l;
	if (!l->vector || from == 0)
		return MPI_SUCCESS;
	MPI_Count *counts = zsched_alloc(s, (size_t)c->size * sizeof *counts);
	if (!counts)
		return MPI_ERR_NO_MEM;
	for (int r = 0; r < c->size; r++)
		counts[r] = zslots_is_alone(l, r, from) ? 0 : zslots_count(l, r);
	rest->counts = ZVEC(counts);
	return MPI_SUCCESS;
}

int zslots_local(struct zsched *s, const struct zslots *l, MPI_Count **counts, MPI_Aint **displs)
{
	struct zcomm *c = zsched_comm(s);
	*counts = zsched_alloc(s, (size_t)c->nlocal * sizeof **counts);
	*displs = zsched_alloc(s, (size_t)c->nlocal * sizeof **displs);
	if (!*counts || !*displs)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < c->nlocal; i++) {
		(*counts)[i] = zslots_count(l, c->shadow_to_rank[i]);
		(*displs)[i] = zslots_displ(l, c->shadow_to_rank[i]);
	}
	return MPI_SUCCESS;
}

static bool side_by_side(const struct zslots *l, const int *member, int n, MPI_Count *total)
{
	MPI_Aint end = 0;
	bool yes = true;
	*total = 0;
	for (int i = 0; i < n; i++) {
		MPI_Count count = zslots_count(l, member[i]);
		if (i > 0 && zslots_displ(l, member[i]) != end)
			yes = false;
		end = zslots_displ(l, member[i]) + (MPI_Aint)count;
		*total += count;
	}
	return yes;
}

int zslots_members(struct zsched *s, const struct zslots *l, int p, int low, int high, void **buf, MPI_Count *count,
	MPI_Datatype *type)
{
	const int *member = zsched_partners(s)->parts[p].member + low;
	int n = high - low;
	*buf = n > 0 ? zslots_at(l, member[0]) : l->buf;
	*type = l->type;
	if (side_by_side(l, member, n, count))
		return MPI_SUCCESS;

	MPI_Count *counts = zsched_alloc(s, (size_t)n * sizeof *counts);
	MPI_Count *displs = zsched_alloc(s, (size_t)n * sizeof *displs);
	if (!counts || !displs)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n; i++) {
		counts[i] = zslots_count(l, member[i]);
		displs[i] = zslots_displ(l, member[i]) * l->extent;
	}
	int rc = zn.Type_create_hindexed_c(n, counts, displs, l->type, type);
	if (rc == MPI_SUCCESS && (rc = zn.Type_commit(type)) != MPI_SUCCESS)
		zn.Type_free(type);
	if (rc != MPI_SUCCESS)
		return MPI_ERR_TYPE;
	*buf = l->buf;
	*count = 1;
	return zsched_own_type(s, *type);
}

int zslots_part(struct zsched *s, const struct zslots *l, int p, void **buf, MPI_Count *count, MPI_Datatype *type)
{
	return zslots_members(s, l, p, 0, zsched_partners(s)->parts[p].count, buf, count, type);
}

MPI_Count zslots_wire_bytes(const struct zcomm *c, const struct zslots *l, int p)
{
	MPI_Count bytes = 0;
	for (int i = 0; i < c->parts[p].count; i++)
		bytes += zbuf_wire_bytes(zslots_count(l, c->parts[p].member[i]), l->type);
	return bytes;
}

int zslots_pack(const struct zcomm *c, const struct zslots *l, int p, char *wire)
{
	int rc = MPI_SUCCESS;
	for (int i = 0; i < c->parts[p].count && rc == MPI_SUCCESS; i++) {
		int r = c->parts[p].member[i];
		rc = zbuf_pack(zslots_at(l, r), zslots_count(l, r), l->type, wire);
		wire += zbuf_wire_bytes(zslots_count(l, r), l->type);
	}
	return rc;
}

int zslots_unpack(const struct zcomm *c, const struct zslots *l, int p, const char *wire)
{
	int rc = MPI_SUCCESS;
	for (int i = 0; i < c->parts[p].count && rc == MPI_SUCCESS; i++) {
		int r = c->parts[p].member[i];
		rc = zbuf_unpack(wire, zslots_at(l, r), zslots_count(l, r), l->type);
		wire += zbuf_wire_bytes(zslots_count(l, r), l->type);
	}
	return rc;
}
