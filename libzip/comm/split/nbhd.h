/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPIX_COMM_TYPE_NEIGHBORHOOD of MPICH, a type of split, on communicators that span parts. The hint decides, where all
 * members give the same one; without one the split gives no communicators.
 *
 *   nbhd_common_dirname   the members that see the same folder. In each part one member makes a file there, and all
 *                         members look for the files. A member that sees none of them stays with those of its host.
 *   network_topo          the members at one switch, or the like: neighbours in a network are in one part, and native
 *                         MPI knows the network of its part.
 *
 * The members say the numbers of comm_agree.h to each other. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_NBHD_H
#define ZIP_LIBZIP_NBHD_H

#include <stdbool.h>

#include "libzip/comm/comm_agree.h"
#include "libzip/comm/comm_outcome.h"

enum znbhd { ZNBHD_NONE, ZNBHD_FOLDER, ZNBHD_NETWORK };

/* Adds the hints of this member to its numbers. The color is the caller's. */
void znbhd_say(MPI_Info, int64_t mine[ZSAID_COUNT]);
/* The hint that all of the n members give who said that color. */
enum znbhd znbhd_agreed(const int64_t (*said)[ZSAID_COUNT], int n, int64_t color);

/* The words that all members have heard from all: by rank, in intercommunicators those of the local group first. */
struct znbhd_heard {
	const int64_t (*said)[ZSAID_COUNT];
	int n;
	int64_t color; /* of those who take part */
	bool in;       /* this member takes part */
};
/* Which folder this member sees: the lowest vrank of those who have made a file there. Or ZNBHD_ALONE: it sees none of
 * the files; MPI_UNDEFINED: it takes no part. */
#define ZNBHD_ALONE (-1)
/* Splits by folder. *alone: a member sees none of the files, here or elsewhere. Collective over all members, also those
 * who take no part. False: there is no result; either all members have noted the same failure, or this one cannot go
 * on. True: a failure may be noted, which the members have not agreed on. */
bool znbhd_folder(struct zcomm *, const char *name, MPI_Info, const struct znbhd_heard *, int *color, bool *alone,
	struct zcomm_outcome *);
/* An info with the hint about the network alone, which the caller frees. A native error code. */
int znbhd_network(MPI_Info, MPI_Info *alone);

/* zcomm_agree_hear or zinter_hear. *n: the number of members. An error is raised, and noted. */
bool znbhd_hear(struct zcomm *, const char *name, const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT], int *n,
	struct zcomm_outcome *);

#endif
