/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans: which block a member of a multicast group sends to whom, and gets from whom, in which step. Deterministic;
 * each member computes its own part from the shape alone, in memory that does not grow with the group but for hybrids.
 *
 * Source: Behrens, Jha, Tremel, Birman, "Pushing Bytes: Cloud-Scale Data Replication with RDMC", section 4.3 and
 * appendix A. A step is the paper's asynchronous step: in one step a member sends at most one block and receives at
 * most one. Members need not go in step: the order of a member's sends, and that it sends only what it has, is all that
 * counts.
 *
 * Members are numbered 0 .. members - 1; member 0 is the root.
 *
 *   algorithm    steps for n members, k blocks
 *   sequential   (n - 1) k              the root sends all of it to one member after the other
 *   tree         ceil(log2 n) k         binomial tree, whole messages
 *   chain        k + n - 2              bucket brigade
 *   pipeline     k + ceil(log2 n) - 1   binomial pipeline on a hypercube; some vertices have two members
 *   hybrid-...   see zcastplan_steps   chain or pipeline between the leaders of sites, pipeline inside each: a block
 *                                       enters every site but the root's exactly once
 */
#ifndef ZIP_COMMON_CASTPLAN_CASTPLAN_H
#define ZIP_COMMON_CASTPLAN_CASTPLAN_H

#include <stdbool.h>
#include <stdint.h>

#define ZCASTPLAN_NOBODY UINT32_MAX
#define ZCASTPLAN_DIMENSIONS 32 /* of a hypercube, at most */

enum zcastplan_algorithm {
	ZCASTPLAN_SEQUENTIAL,
	ZCASTPLAN_TREE,
	ZCASTPLAN_CHAIN,
	ZCASTPLAN_PIPELINE,
	ZCASTPLAN_HYBRID_CHAIN,
	ZCASTPLAN_HYBRID_PIPELINE,
	ZCASTPLAN_ALGORITHMS
};

/* "sequential", ... -> enum zcastplan_algorithm; -1 if it is none. */
int zcastplan_find(const char *name);

struct zcastplan_shape {
	enum zcastplan_algorithm algorithm;
	uint32_t members; /* 1 .. 2^31 */
	uint32_t blocks;  /* 1 .. 2^31 */
	/* Hybrids: [members] the site of each, any numbers. Not kept. Others: not looked at. */
	const uint32_t *site;
};

struct zcastplan_step {
	uint64_t number;	 /* from 0 */
	uint32_t to, send_block; /* to: ZCASTPLAN_NOBODY: sends nothing */
	uint32_t from, recv_block;
};

struct zcastplan;

/* The part of one member. NULL: out of memory. */
struct zcastplan *zcastplan_create(const struct zcastplan_shape *, uint32_t member);
void zcastplan_destroy(struct zcastplan *);
/* The next step in which the member sends or receives, in ascending order. False: there is none any more. */
bool zcastplan_next(struct zcastplan *, struct zcastplan_step *);

/* Marks those that the member may exchange blocks with, whatever the number of blocks: peer[members], all false before.
 * 0 or -ENOMEM. */
int zcastplan_peers(const struct zcastplan_shape *, uint32_t member, bool *peer);

/* Who sends the member its first block, ZCASTPLAN_NOBODY if it gets none; of 2 blocks and more always the same one. 0
 * or -ENOMEM. */
int zcastplan_first(const struct zcastplan_shape *, uint32_t member, uint32_t *from);

/* Steps of the whole group; of hybrids, an upper bound. 0 for a single member; UINT64_MAX: out of memory (hybrids). */
uint64_t zcastplan_steps(const struct zcastplan_shape *);

#endif
