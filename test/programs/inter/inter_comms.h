/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators on which the programs about them try everything: odd and even ranks, halves, the second half in
 * reverse order, one against all others (in two ways), the last two or four ranks, all but rank 1, and odd ranks behind
 * even ones, so that those of the clusters are interleaved: in the larger group, and, of 8 ranks in 4+4, in both. */
#ifndef ZIP_TEST_INTER_COMMS_H
#define ZIP_TEST_INTER_COMMS_H

#include "../check.h"

#define INTERS 9
static const char *const inter_names[INTERS] = {"parity", "halves", "reversed", "first alone", "last alone",
	"at the end", "without 1", "interleaved", "both interleaved"};
static MPI_Comm inters[INTERS], inter_locals[INTERS]; /* MPI_COMM_NULL where this rank is no member */
/* The one being tried. */
static MPI_Comm inter;
static int me, np, nremote;  /* my rank and size in the local group, size of the remote group */
static int side;	     /* my group: 0 or 1, the same in all its members, different in the two */
static int remote_world[64]; /* world ranks of the remote group */

/* The group of intercommunicator i that rank r belongs to; -1: none. */
static inline int side_of(int i, int r)
{
	switch (i) {
	case 0:
		return r % 2;
	case 1:
	case 2:
		return r >= size / 2;
	case 3:
		return r != 0;
	case 4:
		return r == size - 1;
	case 5:
		return r < (size > 4 ? size - 4 : size - 2) ? -1 : r % 2;
	case 6:
		return r == 1 ? -1 : r > 1;
	case 8:
		return r % 4 / 2;
	default:
		return r == size - 1 || (size > 4 && r == 1);
	}
}
/* Their order in the local group. */
static inline int key_of(int i, int r)
{
	if (i >= 7)
		return r % 2 * size + r;
	return i == 2 && r >= size / 2 ? -r : r;
}
/* The world rank that leads a group: its first or its last one in the order of the world. */
static inline int leader_of(int i, int s)
{
	int found = -1;
	for (int r = 0; r < size; r++)
		if (side_of(i, r) == s && (found < 0 || i % 2))
			found = r;
	return found;
}
static inline int rank_in(MPI_Comm c, int world_rank)
{
	MPI_Group w, g;
	int r;
	MPI_Comm_group(WORLD, &w);
	MPI_Comm_group(c, &g);
	MPI_Group_translate_ranks(w, 1, &world_rank, g, &r);
	MPI_Group_free(&w);
	MPI_Group_free(&g);
	return r;
}
static inline void make_inters(void)
{
	for (int i = 0; i < INTERS; i++) {
		int s = side_of(i, rank);
		inters[i] = MPI_COMM_NULL;
		MPI_Comm_split(WORLD, s < 0 ? MPI_UNDEFINED : s, key_of(i, rank), &inter_locals[i]);
		if (s >= 0)
			MPI_Intercomm_create(inter_locals[i], rank_in(inter_locals[i], leader_of(i, s)), WORLD,
				leader_of(i, 1 - s), 40 + i, &inters[i]);
	}
}
static inline void free_inters(void)
{
	for (int i = 0; i < INTERS; i++) {
		if (inters[i] == MPI_COMM_NULL)
			continue;
		MPI_Comm_free(&inters[i]);
		MPI_Comm_free(&inter_locals[i]);
	}
}
/* False: not in it. */
static inline int use_inter(int i)
{
	MPI_Group w, g;
	int ranks[64];
	inter = inters[i];
	if (inter == MPI_COMM_NULL)
		return 0;
	side = side_of(i, rank);
	MPI_Comm_rank(inter, &me);
	MPI_Comm_size(inter, &np);
	MPI_Comm_remote_size(inter, &nremote);
	MPI_Comm_remote_group(inter, &g);
	MPI_Comm_group(WORLD, &w);
	for (int r = 0; r < nremote; r++)
		ranks[r] = r;
	MPI_Group_translate_ranks(g, nremote, ranks, w, remote_world);
	MPI_Group_free(&g);
	MPI_Group_free(&w);
	return 1;
}

#endif
