/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of spanning communicators. See comm.h. */
#include "libzip/world/comm.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/world/board.h"
#include "libzip/shim/station.h"
#include "libzip/shim/shim.h"
#include "libzip/world/topo.h"

#define BUCKETS 256u /* programs have tens of communicators; chains stay short for thousands */

struct zcomm *zcomm_world;
_Atomic uint64_t zcomm_hints[ZCOMM_HINTS];
unsigned zcomm_others;

static struct zcomm *by_handle[BUCKETS];
static _Atomic(struct zcomm *) dead; /* for zcomm_reap; every station adds to it */
static uint64_t made;		     /* communicators that this process has numbered */
/* The communicator whose attribute callbacks this thread is running. They may still ask for its rank. */
__thread struct zcomm *zcomm_dying __attribute__((tls_model("initial-exec")));

static unsigned bucket_of(MPI_Comm handle)
{
	const uint32_t hash = zabi_hash(handle);

	return (hash ^ hash >> 8) % BUCKETS;
}

struct zcomm *zcomm_find_other(MPI_Comm handle)
{
	if (__builtin_expect(zcomm_dying != NULL, 0) && handle == zcomm_dying->handle)
		return zcomm_dying;
	struct zcomm *comm = by_handle[bucket_of(handle)];
	while (comm && comm->handle != handle)
		comm = comm->next;
	return comm;
}

uint64_t zcomm_new_id(void)
{
	/* 30 bits of counter above the two of the kind of traffic */
	return (uint64_t)(uint32_t)zworld.vrank << 32 | (++made & 0x3fffffffu) << 2;
}

/* Counts the members by part, and finds their leaders and whether they are consecutive. part_index: [zworld.nparts]. */
static void count_members(struct zcomm *comm, const int *vranks, int *part_index)
{
	int previous = -1;

	comm->blocked = true;
	comm->rank = MPI_UNDEFINED;
	for (int p = 0; p < zworld.nparts; p++)
		part_index[p] = -1;
	for (int r = 0; r < comm->size; r++) {
		int vrank = vranks ? vranks[r] : r, part = (int)zworld.place[vrank].part;
		if (vrank == zworld.vrank)
			comm->rank = r;
		if (part == zworld.part && comm->nlocal++ == 0)
			comm->first_local = r;
		if (part_index[part] < 0) {
			part_index[part] = comm->nparts;
			comm->parts[comm->nparts++] = (struct zcomm_part){.part = part, .leader = r};
		} else if (part != previous) {
			comm->blocked = false;
		}
		comm->parts[part_index[part]].count++;
		previous = part;
	}
	comm->my_part = part_index[zworld.part];
	comm->members_min = comm->members_max = comm->nparts > 0 ? comm->parts[0].count : 0;
	for (int p = 1; p < comm->nparts; p++) {
		int n = comm->parts[p].count;
		comm->members_min = n < comm->members_min ? n : comm->members_min;
		comm->members_max = n > comm->members_max ? n : comm->members_max;
	}
}

/* The vranks follow one another, or are those of all ranks. */
static bool is_counting(const int *vranks, int size)
{
	for (int r = 1; vranks && r < size; r++)
		if (vranks[r] != vranks[0] + r)
			return false;
	return zworld.number && size > 0;
}

/* The members of a part are consecutive, so their ranks are, too. */
static void map_blocked(struct zcomm *comm)
{
	comm->shadow_to_rank = zworld.number + comm->first_local;
	for (int p = 0; p < comm->nparts; p++)
		comm->parts[p].member = zworld.number + comm->parts[p].leader;
}

/* members: [size], the memory of the parts' member arrays. */
static void map_members(struct zcomm *comm, int *members, const int *part_index)
{
	int local = 0;

	for (int p = 0; p < comm->nparts; p++) {
		comm->parts[p].member = members;
		members += comm->parts[p].count;
		comm->parts[p].count = 0;
	}
	for (int r = 0; r < comm->size; r++) {
		struct zcomm_part *part = &comm->parts[part_index[zworld.place[comm->vrank[r]].part]];
		part->member[part->count++] = r;
		comm->shadow_rank[r] = -1;
		if (part->part == zworld.part) {
			comm->shadow_to_rank[local] = r;
			comm->shadow_rank[r] = local++;
		}
	}
}

static void destroy(struct zcomm *comm)
{
	zboard_leave(comm->board);
	ztopo_unref(comm->topo);
	free(comm->attached);
	free(comm->tables);
	free(comm->parts);
	free(comm);
}

/* Makes the tables. vranks NULL: of all ranks. both: of an intercommunicator, whose caller changes them; shadow_total:
 * room in shadow_to_rank. false: out of memory. */
static bool make_tables(struct zcomm *comm, const int *vranks, bool both, int shadow_total)
{
	int *part_index = malloc((size_t)zworld.nparts * sizeof(*part_index)), *next;
	const size_t n = (size_t)comm->size;

	if (!part_index)
		return false;
	count_members(comm, vranks, part_index);
	const bool counting = is_counting(vranks, comm->size);
	const bool blocked = comm->blocked && zworld.number && !both;
	const size_t words = (counting ? 0 : n) + (blocked ? 0 : 2 * n + (size_t)shadow_total);
	next = comm->tables = words > 0 ? malloc(words * sizeof(int)) : NULL;
	if (words > 0 && !next)
		goto out;
	comm->vrank = counting ? zworld.number + (vranks ? vranks[0] : 0) : next;
	for (int r = 0; !counting && r < comm->size; r++)
		*next++ = vranks ? vranks[r] : r;
	if (blocked) {
		map_blocked(comm);
	} else {
		comm->shadow_rank = next;
		comm->shadow_to_rank = next + 2 * n;
		map_members(comm, next + n, part_index);
	}
out:
	free(part_index);
	return words == 0 || comm->tables;
}

/* vranks NULL: of all ranks. both, shadow_total: as in make_tables. */
static struct zcomm *make(MPI_Comm handle, MPI_Comm shadow, uint64_t id, const int *vranks, int size, bool both,
	int shadow_total)
{
	struct zcomm *comm = calloc(1, sizeof(*comm));

	if (!comm)
		return NULL;
	comm->handle = handle;
	comm->shadow = shadow;
	comm->near = MPI_COMM_NULL;
	comm->id = id;
	comm->station = zstation_of_comm(id);
	comm->size = size;
	comm->refs = 1;
	comm->parts = calloc((size_t)zworld.nparts, sizeof(*comm->parts));
	if (!comm->parts || !make_tables(comm, vranks, both, shadow_total)) {
		destroy(comm);
		return NULL;
	}
	return comm;
}

/* The last communicator with such a handle has the place. For the others threads enter the library as a whole. */
static void hint_at(const struct zcomm *comm, bool there)
{
	_Atomic uint64_t *hint = &zcomm_hints[zabi_hash(comm->handle) % ZCOMM_HINTS];
	uint64_t mine = zabi_bits(comm->handle) << 8 | (uint64_t)comm->station;

	if (there && comm->station > 0)
		atomic_store_explicit(hint, mine, memory_order_relaxed);
	else if (atomic_load_explicit(hint, memory_order_relaxed) == mine)
		atomic_store_explicit(hint, 0, memory_order_relaxed);
}

static void enter(struct zcomm *comm)
{
	hint_at(comm, true);
	if (comm->handle == MPI_COMM_WORLD) {
		zcomm_world = comm;
	} else {
		comm->next = by_handle[bucket_of(comm->handle)];
		by_handle[bucket_of(comm->handle)] = comm;
		zcomm_others++;
	}
}

struct zcomm *zcomm_create(MPI_Comm handle, MPI_Comm shadow, uint64_t id, const int *vrank, int size)
{
	struct zcomm *comm = make(handle, shadow, id, vrank, size, false, size);

	if (comm)
		enter(comm);
	return comm;
}

struct zcomm *zcomm_create_whole(MPI_Comm handle, MPI_Comm shadow, uint64_t id)
{
	return zcomm_create(handle, shadow, id, NULL, zworld.nranks);
}

/* Fills the ranks in a shadow that has the members of both groups. */
static void map_both_groups(struct zcomm *comm)
{
	int here = comm->local->nlocal, before = comm->first ? here : 0, theirs = comm->nlocal;

	comm->nlocal = here + theirs;
	for (int i = 0; i < comm->nlocal; i++)
		comm->shadow_to_rank[i] = MPI_UNDEFINED;
	for (int r = 0; r < comm->size; r++) {
		if (comm->shadow_rank[r] < 0)
			continue;
		comm->shadow_rank[r] += before;
		comm->shadow_to_rank[comm->shadow_rank[r]] = r;
	}
}

struct zcomm *zcomm_create_inter(const struct zcomm_inter *i)
{
	/* The local group is in no table. It has the same id: its messages have other sources than those from outside.
	 */
	struct zcomm *local = make(i->local_shadow == i->shadow ? MPI_COMM_NULL : i->local_shadow, i->local_shadow,
		i->id, i->local, i->nlocal, false, i->nlocal);
	struct zcomm *comm = make(i->shadow, i->shadow, i->id, i->remote, i->nremote, true, i->nlocal + i->nremote);

	if (!local || !comm) {
		if (local)
			destroy(local);
		if (comm)
			destroy(comm);
		return NULL;
	}
	local->dropped = true;
	comm->local = local;
	comm->near = i->near;
	comm->fatal = i->fatal;
	comm->session = local->session = i->session;
	comm->first = i->local[0] < i->remote[0];
	map_both_groups(comm);
	enter(comm);
	return comm;
}

void zcomm_ref(struct zcomm *comm)
{
	atomic_fetch_add_explicit(&comm->refs, 1, memory_order_relaxed);
}

static void unlink_handle(struct zcomm *comm)
{
	if (comm == zcomm_world) {
		zcomm_world = NULL;
		return;
	}
	hint_at(comm, false);
	for (struct zcomm **at = &by_handle[bucket_of(comm->handle)]; *at; at = &(*at)->next)
		if (*at == comm) {
			*at = comm->next;
			zcomm_others--;
			return;
		}
}

void zcomm_unref(struct zcomm *comm)
{
	if (atomic_fetch_sub_explicit(&comm->refs, 1, memory_order_acq_rel) > 1)
		return;
	if (!comm->dropped) /* not at a station: the application has a reference until it frees it */
		unlink_handle(comm);
	comm->next = atomic_load_explicit(&dead, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&dead, &comm->next, comm))
		;
}

void zcomm_drop(struct zcomm *comm)
{
	if (comm->dropped)
		return;
	unlink_handle(comm);
	comm->dropped = true;
	zcomm_unref(comm);
}

int zcomm_reap(void)
{
	struct zcomm *comm, *outer;
	int first = MPI_SUCCESS;

	while ((comm = atomic_load(&dead))) {
		outer = zcomm_dying;
		atomic_store(&dead, comm->next);
		if (comm->handle != MPI_COMM_WORLD && comm->handle != MPI_COMM_NULL) {
			MPI_Comm handle = comm->handle;
			zcomm_dying = comm;
			zcomm_ref(comm); /* callbacks may communicate on it, and must not drop the last reference */
			zshim_callback_begin();
			int rc = zn.Comm_free(&handle);
			zshim_callback_end();
			first = first == MPI_SUCCESS ? rc : first;
			zcomm_dying = outer;
			comm->handle = MPI_COMM_NULL;
			if (atomic_fetch_sub_explicit(&comm->refs, 1, memory_order_acq_rel) > 1)
				continue; /* operations that they have begun end later, and put it aside again */
		}
		if (comm->near != MPI_COMM_NULL)
			zn.Comm_free(&comm->near);
		if (comm->local)
			zcomm_unref(comm->local);
		if (comm->seed)
			zcomm_unref(comm->seed);
		destroy(comm);
	}
	return first;
}

int zcomm_rank_of(const struct zcomm *comm, int vrank)
{
	/* Most communicators list their members in the order of vranks, many without gaps. */
	if (comm->size > 0 && vrank >= comm->vrank[0] && vrank - comm->vrank[0] < comm->size &&
		comm->vrank[vrank - comm->vrank[0]] == vrank)
		return vrank - comm->vrank[0];
	for (int r = 0; r < comm->size; r++)
		if (comm->vrank[r] == vrank)
			return r;
	return MPI_UNDEFINED;
}
