/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model: the communicators of a random program and who is in them. All ranks draw the same model from the seed.
 * Only the handles differ: a rank has one if it is a member and the operation that makes the communicator was run.
 */
#ifndef ZIP_RANDOM_MODEL_H
#define ZIP_RANDOM_MODEL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "draw.h"

#define MOST_RANKS 16
#define MOST_COMMS 64
#define MOST_NEIGHBORS 12

/* Ranks of the world, in the order of their ranks in the group. */
struct group {
	int n, at[MOST_RANKS];
};
/* Neighbours of one rank; MPI_PROC_NULL stands where a grid ends. */
struct neighbors {
	int n, at[MOST_NEIGHBORS];
};
enum topology { PLAIN, CART, GRAPH, DIST_GRAPH };

struct model_comm {
	int maker; /* number of the operation, -1: the world */
	bool gone; /* freed, as far as the plan has been drawn */
	bool inter;
	struct group side[2]; /* the members; the second one is for intercommunicators */
	enum topology topology;
	bool unordered; /* the order of neighbours is not determined */
	int ndims, dims[3], periods[3];
	struct neighbors from[MOST_RANKS], to[MOST_RANKS]; /* by rank in the communicator */
	MPI_Comm handle;
};

struct model {
	uint64_t seed;
	int ranks, me;	      /* of the world */
	int part[MOST_RANKS]; /* the cluster of each rank */
	int ncomms;
	struct model_comm comm[MOST_COMMS];
};
extern struct model model;

/* Forgets everything but the world. */
void model_reset(uint64_t seed);
/* Adds a communicator and returns its number; the caller fills in the members. There must be room. */
int model_add(int maker);
/* How many can be added. */
int model_room(void);
/* Draws a communicator that is not gone; wanted may be NULL. Returns -1 if none is wanted. */
int model_pick(struct draw *d, bool (*wanted)(const struct model_comm *));
/* The place of a rank of the world in a group, or -1. */
int group_find(const struct group *g, int world_rank);
/* The side of an intercommunicator where this process is, -1 if it is in none. */
int model_side(const struct model_comm *c);
bool model_is_member(const struct model_comm *c);
/* This process's own rank in the communicator. */
int model_rank(const struct model_comm *c);
/* The group that this process's messages go to: the remote one of an intercommunicator. */
const struct group *model_peers(const struct model_comm *c);
/* Writes a short name of the communicator, as "c3[0,2|1]". Returns the text. */
const char *model_name(int comm, char text[80]);
bool model_is_intra(const struct model_comm *c);
bool model_is_inter(const struct model_comm *c);
/* Whether the running library is an MPICH whose version begins so, as "4.0.". */
bool model_library_is(const char *version);
/* Whether all ranks are in one cluster: this is the native run. */
bool model_all_native(void);
/* Whether its members are in one cluster, where native MPI does the work. */
bool model_is_native(const struct model_comm *c);
/* MPI_Group of these ranks of the world; the caller frees it. */
MPI_Group model_group(const struct group *g);

#endif
