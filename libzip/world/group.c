/* SPDX-License-Identifier: BSD-3-Clause */
/* Group objects and MPI_Group_* on them. The algebra is in groupset.c. */
#include "libzip/world/group.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libzip/abi/abi.h"
#include "libzip/world/attached.h"
#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

static struct zgroup empty = {.handle = MPI_GROUP_EMPTY, .size = 0, .rank = MPI_UNDEFINED};
static struct zgroup **table; /* [table_size], by id of the handle; NULL: free */
static unsigned table_size, first_free;

struct zgroup *zgroup_find(MPI_Group handle)
{
	const uint32_t id = zabi_own_group_id(handle);

	if (handle == MPI_GROUP_EMPTY)
		return &empty;
	return id > 0 && id < table_size ? table[id] : NULL;
}

/* A free index, from 1; 0: no memory. */
static unsigned find_slot(void)
{
	unsigned index = first_free ? first_free : 1;

	while (index < table_size && table[index])
		index++;
	if (index >= table_size) {
		unsigned size = table_size ? 2 * table_size : 16;
		void *bigger = size <= ZABI_ID_MAX ? realloc(table, size * sizeof(*table)) : NULL;
		if (!bigger)
			return 0;
		table = bigger;
		memset(table + table_size, 0, (size - table_size) * sizeof(*table));
		if (table_size)
			index = table_size;
		table_size = size;
	}
	first_free = index + 1;
	return index;
}

static void free_group(struct zgroup *group)
{
	const uint32_t index = zabi_own_group_id(group->handle);

	table[index] = NULL;
	if (index < first_free)
		first_free = index;
	free(group->vrank);
	free(group);
}

int zgroup_create(const int *vrank, int size, struct zattached *session, MPI_Group *handle)
{
	*handle = MPI_GROUP_EMPTY;
	if (size == 0)
		return MPI_SUCCESS;
	*handle = MPI_GROUP_NULL;
	struct zgroup *group = malloc(sizeof(*group));
	int *copy = malloc((size_t)size * sizeof(*copy));
	unsigned index = find_slot();
	if (!group || !copy || !index) {
		free(group);
		free(copy);
		return MPI_ERR_NO_MEM;
	}
	memcpy(copy, vrank, (size_t)size * sizeof(*copy));
	*group = (struct zgroup){.handle = zabi_own_group(index),
		.size = size,
		.rank = MPI_UNDEFINED,
		.vrank = copy,
		.session = session};
	for (int i = 0; i < size; i++)
		if (copy[i] == zworld.vrank)
			group->rank = i;
	table[index] = group;
	*handle = group->handle;
	return MPI_SUCCESS;
}

int zgroup_to_native(const struct zgroup *group, MPI_Group *native)
{
	MPI_Group base = MPI_GROUP_NULL;
	int n = 0;

	*native = MPI_GROUP_EMPTY;
	int *lranks = malloc(((size_t)group->size + 1) * sizeof(*lranks));
	if (!lranks)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < group->size; i++)
		if (zworld_is_local(group->vrank[i]))
			lranks[n++] = (int)zworld.place[group->vrank[i]].lrank;
	int rc = zn.Comm_group(zworld.base, &base);
	if (rc == MPI_SUCCESS && n > 0)
		rc = zn.Group_incl(base, n, lranks, native);
	if (base != MPI_GROUP_NULL)
		zn.Group_free(&base);
	free(lranks);
	return rc == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_GROUP;
}

/* Translates ranks 0..n-1 of native to vranks. False: a process does not belong to this world. */
static bool translate(MPI_Group native, MPI_Group base, int n, int *ranks, int *vranks)
{
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	if (zn.Group_translate_ranks(native, n, ranks, base, vranks) != MPI_SUCCESS)
		return false;
	for (int i = 0; i < n; i++) {
		if (vranks[i] == MPI_UNDEFINED)
			return false;
		vranks[i] = zworld.my_vrank[vranks[i]];
	}
	return true;
}

int zgroup_from_native(MPI_Group *group)
{
	MPI_Group native = *group, base = MPI_GROUP_NULL;
	int n = 0, rc = MPI_ERR_NO_MEM;

	if (native == MPI_GROUP_NULL || native == MPI_GROUP_EMPTY)
		return MPI_SUCCESS;
	*group = MPI_GROUP_NULL;
	zn.Group_size(native, &n);
	zn.Comm_group(zworld.base, &base);
	int *ranks = malloc(2 * ((size_t)n + 1) * sizeof(*ranks));
	if (ranks) {
		int *vranks = ranks + n;
		if (translate(native, base, n, ranks, vranks))
			rc = zgroup_create(vranks, n, zattached_of_native(native), group);
		else
			rc = MPI_ERR_UNSUPPORTED_OPERATION;
	}
	free(ranks);
	zn.Group_free(&base);
	zn.Group_free(&native);
	return rc;
}

static int bad_group(const char *function)
{
	return zerror_raise(NULL, MPI_ERR_GROUP, function, "invalid group");
}

static int no_memory(const char *function)
{
	return zerror_raise(NULL, MPI_ERR_NO_MEM, function, "out of memory");
}

int zip_Group_size(MPI_Group handle, int *size)
{
	struct zgroup *group = zgroup_find(handle);

	if (!group)
		return bad_group("MPI_Group_size");
	*size = group->size;
	return MPI_SUCCESS;
}

int zip_Group_rank(MPI_Group handle, int *rank)
{
	struct zgroup *group = zgroup_find(handle);

	if (!group)
		return bad_group("MPI_Group_rank");
	*rank = group->rank;
	return MPI_SUCCESS;
}

int zip_Group_free(MPI_Group *handle)
{
	struct zgroup *group = zgroup_find(*handle);

	if (!group)
		return bad_group("MPI_Group_free");
	if (group != &empty)
		free_group(group);
	*handle = MPI_GROUP_NULL;
	return MPI_SUCCESS;
}

int zip_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
	struct zgroup *a = zgroup_find(group1), *b = zgroup_find(group2);

	if (!a || !b)
		return bad_group("MPI_Group_compare");
	*result = a == b ? MPI_IDENT : zgroupset_compare(a->vrank, a->size, b->vrank, b->size);
	return *result < 0 ? no_memory("MPI_Group_compare") : MPI_SUCCESS;
}

/* For a few ranks a search is cheaper than a map of the whole world. */
#define SEARCH_MAX 4

static int find_vrank(const struct zgroup *group, int vrank)
{
	for (int i = 0; i < group->size; i++)
		if (group->vrank[i] == vrank)
			return i;
	return MPI_UNDEFINED;
}

static int *rank_map(const struct zgroup *group)
{
	int *map = malloc(((size_t)zworld.nranks + 1) * sizeof(*map));

	for (int v = 0; map && v < zworld.nranks; v++)
		map[v] = MPI_UNDEFINED;
	for (int i = 0; map && i < group->size; i++)
		map[group->vrank[i]] = i;
	return map;
}

int zip_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[])
{
	struct zgroup *a = zgroup_find(group1), *b = zgroup_find(group2);
	int *map = NULL, rc = MPI_SUCCESS;

	if (!a || !b)
		return bad_group("MPI_Group_translate_ranks");
	if (n < 0)
		return zerror_raise(NULL, MPI_ERR_ARG, "MPI_Group_translate_ranks", "the number of ranks is negative");
	if (n > SEARCH_MAX && !(map = rank_map(b)))
		return no_memory("MPI_Group_translate_ranks");
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		if (ranks1[i] == MPI_PROC_NULL)
			ranks2[i] = MPI_PROC_NULL;
		else if (ranks1[i] < 0 || ranks1[i] >= a->size)
			rc = zerror_raise(NULL, MPI_ERR_RANK, "MPI_Group_translate_ranks",
				"rank %d is outside the group of size %d", ranks1[i], a->size);
		else
			ranks2[i] = map ? map[a->vrank[ranks1[i]]] : find_vrank(b, a->vrank[ranks1[i]]);
	}
	free(map);
	return rc;
}

typedef int algebra(const int *a, int na, const int *b, int nb, int *out);

static int combine(MPI_Group group1, MPI_Group group2, MPI_Group *result, algebra *op, const char *function)
{
	struct zgroup *a = zgroup_find(group1), *b = zgroup_find(group2);
	int rc = MPI_ERR_NO_MEM;

	if (!a || !b)
		return bad_group(function);
	int *out = malloc(((size_t)a->size + (size_t)b->size + 1) * sizeof(*out));
	int n = out ? op(a->vrank, a->size, b->vrank, b->size, out) : -1;
	if (n >= 0)
		rc = zgroup_create(out, n, a->session ? a->session : b->session, result);
	free(out);
	return rc == MPI_SUCCESS ? rc : no_memory(function);
}

int zip_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
	return combine(group1, group2, newgroup, zgroupset_union, "MPI_Group_union");
}

int zip_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
	return combine(group1, group2, newgroup, zgroupset_intersection, "MPI_Group_intersection");
}

int zip_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
	return combine(group1, group2, newgroup, zgroupset_difference, "MPI_Group_difference");
}

/* For MPI_Group_incl and its kin: the new group has the listed ranks in that order, or all others. */
static int choose(MPI_Group handle, int n, const int *ranks, int (*ranges)[3], bool exclude, MPI_Group *result,
	const char *function)
{
	struct zgroup *group = zgroup_find(handle);
	const char *reason;
	int count;

	if (!group)
		return bad_group(function);
	int *chosen = malloc(2 * ((size_t)group->size + 1) * sizeof(*chosen));
	if (!chosen)
		return no_memory(function);
	int rc = zgroupset_select(group->size, n, ranks, ranges, chosen, &count, &reason);
	if (rc != MPI_SUCCESS) {
		free(chosen);
		return zerror_raise(NULL, rc, function, "%s", reason);
	}
	for (int i = 0; i < count; i++)
		chosen[i] = group->vrank[chosen[i]];
	if (exclude) {
		int *left = chosen + group->size + 1;
		count = zgroupset_difference(group->vrank, group->size, chosen, count, left);
		rc = count < 0 ? MPI_ERR_NO_MEM : zgroup_create(left, count, group->session, result);
	} else {
		rc = zgroup_create(chosen, count, group->session, result);
	}
	free(chosen);
	return rc == MPI_SUCCESS ? rc : no_memory(function);
}

int zip_Group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
	return choose(group, n, ranks, NULL, false, newgroup, "MPI_Group_incl");
}

int zip_Group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
	return choose(group, n, ranks, NULL, true, newgroup, "MPI_Group_excl");
}

int zip_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
	return choose(group, n, NULL, ranges, false, newgroup, "MPI_Group_range_incl");
}

int zip_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
	return choose(group, n, NULL, ranges, true, newgroup, "MPI_Group_range_excl");
}
