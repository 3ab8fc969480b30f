/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoallw in place inside a part. */
#include "libzip/coll/packed.h"

#include <stdlib.h>

#include "libzip/coll/base/coll_local.h"
#include "libzip/coll/inside/shared.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"

struct block {
	const void *at;
	MPI_Count count;
	MPI_Datatype type;
};

static size_t room_for(const struct block *blocks, int n)
{
	struct zpacked *x;
	size_t bytes = (size_t)n * (sizeof *x->counts + sizeof *x->displs + sizeof *x->types);
	for (int i = 0; i < n; i++)
		bytes += (size_t)(blocks[i].count * zbuf_size(blocks[i].type));
	return bytes;
}

static int fill(void *room, const struct block *blocks, int n, struct zpacked *x)
{
	MPI_Aint at = 0;
	int rc = MPI_SUCCESS;
	x->counts = room;
	x->displs = (MPI_Aint *)(void *)(x->counts + n);
	x->types = (MPI_Datatype *)(void *)(x->displs + n);
	x->data = (char *)(x->types + n);
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		x->counts[i] = blocks[i].count * zbuf_size(blocks[i].type);
		x->displs[i] = at;
		x->types[i] = MPI_PACKED;
		rc = zshared_pack(blocks[i].at, blocks[i].count, blocks[i].type, x->data + at);
		at += (MPI_Aint)x->counts[i];
	}
	return rc;
}

int zpacked_local(struct zsched *s, const struct zside *d, struct zpacked *x)
{
	struct zcomm *c = zsched_comm(s);
	struct block *blocks = zsched_alloc(s, (size_t)c->nlocal * sizeof *blocks);
	if (!blocks)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < c->nlocal; i++) {
		int r = c->shadow_to_rank[i];
		blocks[i] = (struct block){zside_at(d, r), zslots_count(&d->slots, r), zside_type(d, r)};
	}
	void *room = zsched_alloc(s, room_for(blocks, c->nlocal));
	return room ? fill(room, blocks, c->nlocal, x) : MPI_ERR_NO_MEM;
}

/* False: the arguments are wrong, and the native function finds the error. */
static bool take_blocks(const struct zcoll *a, int n, struct block *blocks, MPI_Count *counts, MPI_Aint *displs)
{
	for (int i = 0; i < n; i++) {
		counts[i] = zvec_get(a->recvcounts, i);
		displs[i] = (MPI_Aint)zvec_get(a->rdispls, i);
		blocks[i] = (struct block){(const char *)a->recvbuf + displs[i], counts[i], a->recvtypes[i]};
		if (counts[i] < 0 || blocks[i].type == MPI_DATATYPE_NULL)
			return false;
	}
	return true;
}

bool zpacked_run(const struct zcoll *a, MPI_Comm comm, int *rc)
{
	MPI_Request r;
	struct zpacked x;
	int n = 0, inter = 0;
	if (!zrunning_has_bug(ZVERSION_IALLTOALLW) || a->sendbuf != MPI_IN_PLACE || !a->recvcounts.p || !a->rdispls.p ||
		!a->recvtypes || zn.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter ||
		zn.Comm_size(comm, &n) != MPI_SUCCESS)
		return false;
	struct block *blocks = malloc((size_t)n * sizeof *blocks);
	MPI_Count *counts = malloc((size_t)n * sizeof *counts);
	MPI_Aint *displs = malloc((size_t)n * sizeof *displs);
	void *room = NULL;
	bool good = blocks && counts && displs && take_blocks(a, n, blocks, counts, displs) &&
		    (room = malloc(room_for(blocks, n))) && fill(room, blocks, n, &x) == MPI_SUCCESS;
	if (good) {
		struct zcoll_local local;
		zcoll_local_begin(&local);
		*rc = zn.Ialltoallw_c(x.data, x.counts, x.displs, x.types, a->recvbuf, counts, displs, a->recvtypes,
			comm, &r);
		*rc = zcoll_local_end(&local, *rc, &r, comm, a->name);
	}
	free(room);
	free(displs);
	free(counts);
	free(blocks);
	return good;
}
