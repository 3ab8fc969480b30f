/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI groups: always our own objects while the world is merged, sets of vranks in order. Under the shim's lock. */
#ifndef ZIP_LIBZIP_GROUP_H
#define ZIP_LIBZIP_GROUP_H

#include <mpi.h>

struct zattached;

struct zgroup {
	MPI_Group handle; /* which native MPI never issues (libzip/abi/abi.h); MPI_GROUP_EMPTY and MPI_GROUP_NULL are
			     native */
	int size, rank;	  /* rank: this process's, or MPI_UNDEFINED */
	int *vrank;	  /* [size] */
	/* The buffer of the session that the group comes from (libzip/world/attached.h). NULL: of none, or MPICH has
	 * no such buffers. */
	struct zattached *session;
};

/* NULL: not a valid group handle. */
struct zgroup *zgroup_find(MPI_Group);
/* Makes a group of a session, or of none (NULL); copies vrank. An empty set gives MPI_GROUP_EMPTY. MPI_SUCCESS or
 * MPI_ERR_NO_MEM. */
int zgroup_create(const int *vrank, int size, struct zattached *session, MPI_Group *);
/* Makes a native group of the members in my part, in order. The caller frees it natively, unless it is
 * MPI_GROUP_EMPTY. MPI_SUCCESS or an error class. */
int zgroup_to_native(const struct zgroup *, MPI_Group *native);
/* Replaces a native group, which it frees, by a group of ours with the same members and session. MPI_SUCCESS,
 * MPI_ERR_NO_MEM, or MPI_ERR_UNSUPPORTED_OPERATION where a member does not belong to this world (a child of
 * MPI_Comm_spawn); then the group is MPI_GROUP_NULL. */
int zgroup_from_native(MPI_Group *);

/*
 * The algebra of MPI-4.0 section 7.3.2 on plain arrays of vranks, without handles. All results are in the order that
 * the standard asks for; out must have room for na + nb elements and may not overlap the inputs. They return the number
 * of elements, or -1 without memory.
 */
int zgroupset_union(const int *a, int na, const int *b, int nb, int *out);
int zgroupset_intersection(const int *a, int na, const int *b, int nb, int *out);
int zgroupset_difference(const int *a, int na, const int *b, int nb, int *out);
/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL; -1 without memory. */
int zgroupset_compare(const int *a, int na, const int *b, int nb);
/* Which ranks of a group of size a list of n ranges (first, last, stride), or of single ranks where ranges is NULL,
 * names: fills order[] (room for size) with them in order. MPI_SUCCESS, or an error class with a line of reason: a rank
 * out of range or named twice, a stride of zero, a negative n. */
int zgroupset_select(int size, int n, const int *ranks, int (*ranges)[3], int *order, int *count, const char **reason);

#endif
