/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's communicators. See record_comm.h. Under the recorder's lock. */
#include "libzip/record/record_comm.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/abi/abi.h"
#include "libzip/world/comm.h"
#include "libzip/shim/shim.h"
#include "libzip/world/topo.h"
#include "libzip/win/win.h"
#include "libzip/world/world.h"

#define BUCKETS 256u

static struct zrecord_comm *table[BUCKETS], *last; /* the last one found */

static unsigned bucket_of(uint64_t handle)
{
	const uint32_t hash = zabi_hash(handle);

	return (hash ^ hash >> 8) % BUCKETS;
}

/* The vranks of a native group. */
static int translate_native(MPI_Group group, int n, int *vrank)
{
	MPI_Comm base = zworld.merged ? zworld.base : MPI_COMM_WORLD;
	MPI_Group world;
	int *ranks = malloc(((size_t)n + 1) * sizeof(*ranks)), rc;

	if (!ranks)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	rc = zn.Comm_group(base, &world);
	if (rc == MPI_SUCCESS) {
		rc = zn.Group_translate_ranks(group, n, ranks, world, vrank);
		zn.Group_free(&world);
	}
	free(ranks);
	for (int i = 0; rc == MPI_SUCCESS && i < n; i++)
		if (vrank[i] < 0)
			vrank[i] = -1;
		else if (zworld.merged)
			vrank[i] = zworld.my_vrank[vrank[i]];
	return rc;
}

/* Fills it from the group, and frees the group. */
static int fill_native(struct zrecord_comm *c, MPI_Group group)
{
	int rc = zn.Group_size(group, &c->npeers);

	if (rc == MPI_SUCCESS) {
		c->vrank = malloc(((size_t)c->npeers + 1) * sizeof(*c->vrank));
		rc = c->vrank ? translate_native(group, c->npeers, c->vrank) : MPI_ERR_NO_MEM;
	}
	zn.Group_free(&group);
	return rc;
}

static int fill_local(struct zrecord_comm *c, MPI_Comm comm)
{
	MPI_Group group = MPI_GROUP_NULL;
	int inter = 0, rc = zn.Comm_test_inter(comm, &inter);

	if (rc == MPI_SUCCESS)
		rc = zn.Comm_rank(comm, &c->rank);
	if (rc == MPI_SUCCESS)
		rc = zn.Comm_size(comm, &c->size);
	if (rc == MPI_SUCCESS)
		rc = inter ? zn.Comm_remote_group(comm, &group) : zn.Comm_group(comm, &group);
	c->inter = inter != 0;
	return rc == MPI_SUCCESS ? fill_native(c, group) : rc;
}

static int fill_spanning(struct zrecord_comm *c, struct zcomm *spanning)
{
	const struct ztopo *topo = spanning->topo;

	c->rank = zcomm_own(spanning)->rank;
	c->size = zcomm_own(spanning)->size;
	c->npeers = spanning->size;
	c->inter = spanning->local != NULL;
	c->ntargets = topo ? topo->outdegree : 0;
	c->target = topo ? malloc(((size_t)c->ntargets + 1) * sizeof(*c->target)) : NULL;
	c->vrank = malloc(((size_t)c->npeers + 1) * sizeof(*c->vrank));
	if (!c->vrank || (topo && !c->target))
		return MPI_ERR_NO_MEM;
	if (topo)
		memcpy(c->target, topo->target, (size_t)c->ntargets * sizeof(*c->target));
	memcpy(c->vrank, spanning->vrank, (size_t)c->npeers * sizeof(*c->vrank));
	return MPI_SUCCESS;
}

static struct zrecord_comm *find(uint64_t handle)
{
	struct zrecord_comm *c = last;

	if (c && c->handle == handle)
		return c;
	for (c = table[bucket_of(handle)]; c && c->handle != handle;)
		c = c->next;
	if (c)
		last = c;
	return c;
}

/* Adds it to the table if it could be filled. */
static struct zrecord_comm *insert(struct zrecord_comm *c, uint64_t handle, int rc)
{
	if (rc != MPI_SUCCESS) {
		zrecord_comm_free(c);
		return NULL;
	}
	c->handle = handle;
	c->next = table[bucket_of(handle)];
	table[bucket_of(handle)] = c;
	last = c;
	return c;
}

static struct zrecord_comm *create(MPI_Comm comm)
{
	struct zrecord_comm *c = calloc(1, sizeof(*c));

	if (c) {
		c->comm = comm;
		c->ntargets = -1;
	}
	return c;
}

struct zrecord_comm *zrecord_comm_find(MPI_Comm comm)
{
	struct zrecord_comm *c = find(zabi_bits(comm));
	struct zcomm *spanning = NULL;
	int rc = MPI_SUCCESS;

	if (c || !(c = create(comm)))
		return c;
	if (zshim_active) {
		zshim_enter();
		spanning = zcomm_find(comm);
		if (spanning)
			rc = fill_spanning(c, spanning);
		zshim_leave();
	}
	return insert(c, zabi_bits(comm), spanning ? rc : fill_local(c, comm));
}

static int fill_local_win(struct zrecord_comm *c, MPI_Win win)
{
	MPI_Group group;
	int rc = zn.Win_get_group(win, &group);

	return rc == MPI_SUCCESS ? fill_native(c, group) : rc;
}

struct zrecord_comm *zrecord_comm_find_win(MPI_Win win)
{
	struct zrecord_comm *c = find(zabi_bits(win));
	struct zwin *spanning = NULL;
	int rc = MPI_SUCCESS;

	if (c || !(c = create(MPI_COMM_NULL)))
		return c;
	if (zshim_active) {
		zshim_enter();
		spanning = zwin_find(win);
		if (spanning)
			rc = fill_spanning(c, spanning->comm);
		zshim_leave();
	}
	return insert(c, zabi_bits(win), spanning ? rc : fill_local_win(c, win));
}

/* --- neighbours --- */

static int cart_targets(MPI_Comm comm, int ndims, int *target)
{
	/* along each dimension first the neighbour below, then the neighbour above (MPI-4.0 section 8.6) */
	for (int d = 0; d < ndims; d++) {
		int rc = zn.Cart_shift(comm, d, 1, &target[2 * d], &target[2 * d + 1]);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	return MPI_SUCCESS;
}

static int dist_graph_targets(MPI_Comm comm, int in, int out, int *target)
{
	size_t n = (size_t)in + (size_t)out + 1;
	int *scratch = malloc(3 * n * sizeof(*scratch));

	if (!scratch)
		return MPI_ERR_NO_MEM;
	int rc = zn.Dist_graph_neighbors(comm, in, scratch, scratch + n, out, target, scratch + 2 * n);
	free(scratch);
	return rc;
}

bool zrecord_comm_targets(struct zrecord_comm *c)
{
	MPI_Comm comm = c->comm;
	int kind = MPI_UNDEFINED, in = 0, out = 0, weighted, rc;

	if (c->ntargets >= 0)
		return c->target != NULL;
	c->ntargets = 0;
	rc = zn.Topo_test(comm, &kind);
	if (rc == MPI_SUCCESS && kind == MPI_CART) {
		rc = zn.Cartdim_get(comm, &in);
		out = 2 * in;
	} else if (rc == MPI_SUCCESS && kind == MPI_GRAPH) {
		rc = zn.Graph_neighbors_count(comm, c->rank, &out);
	} else if (rc == MPI_SUCCESS && kind == MPI_DIST_GRAPH) {
		rc = zn.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
	} else {
		return false;
	}
	if (rc == MPI_SUCCESS && !(c->target = malloc(((size_t)out + 1) * sizeof(*c->target))))
		return false;
	if (rc == MPI_SUCCESS)
		rc = kind == MPI_CART	 ? cart_targets(comm, in, c->target)
		     : kind == MPI_GRAPH ? zn.Graph_neighbors(comm, c->rank, out, c->target)
					 : dist_graph_targets(comm, in, out, c->target);
	c->ntargets = rc == MPI_SUCCESS ? out : 0;
	return rc == MPI_SUCCESS;
}

/* --- the end of one --- */

struct zrecord_comm *zrecord_comm_take(uint64_t handle)
{
	for (struct zrecord_comm **at = &table[bucket_of(handle)]; *at; at = &(*at)->next)
		if ((*at)->handle == handle) {
			struct zrecord_comm *c = *at;
			*at = c->next;
			last = NULL;
			return c;
		}
	return NULL;
}

struct zrecord_comm *zrecord_comm_take_any(void)
{
	for (unsigned b = 0; b < BUCKETS; b++)
		if (table[b])
			return zrecord_comm_take(table[b]->handle);
	return NULL;
}

void zrecord_comm_free(struct zrecord_comm *c)
{
	if (!c)
		return;
	free(c->vrank);
	free(c->target);
	free(c->sums);
	free(c);
}
