/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans of multicasts. A plan says which block a member of a group sends to which member, and which block it receives
 * from which member, in each step. Plans are deterministic: each member computes its own part from the shape alone.
 * Memory does not grow with the group, with the exception of hybrids.
 *
 * Source: Behrens, Jha, Tremel, Birman, "Pushing Bytes: Cloud-Scale Data Replication with RDMC", section 4.3 and
 * appendix A. A step is the paper's asynchronous step: a member sends at most one block and receives at most one block
 * in it. Members need not keep step with each other. A member must only keep the order of its sends, and send what it
 * has.
 *
 * Members are numbered 0 .. members - 1; member 0 is the root.
 *
 *   algorithm    steps for n members, k blocks
 *   sequential   (n - 1) k              the root sends everything to one member after the other
 *   tree         ceil(log2 n) k         binomial tree, whole messages
 *   chain        k + n - 2              bucket brigade
 *   pipeline     k + ceil(log2 n) - 1   binomial pipeline on a hypercube; some vertices have two members
 *   hybrid-...   see zcastplan_steps    chain or pipeline between the leaders of sites, pipeline inside each site: a
 *                                       block enters every site but the root's exactly once
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

/* The enum zcastplan_algorithm with this name ("sequential", ...), or -1. */
int zcastplan_find(const char *name);

struct zcastplan_shape {
	enum zcastplan_algorithm algorithm;
	uint32_t members; /* 1 .. 2^31 */
	uint32_t blocks;  /* 1 .. 2^31 */
	/* Hybrids: [members] the number of each member's site. Any numbers; not kept. The other algorithms do not look
	 * at it. */
	const uint32_t *site;
};

struct zcastplan_step {
	uint64_t number;	 /* from 0 */
	uint32_t to, send_block; /* to: ZCASTPLAN_NOBODY: sends nothing; from: likewise */
	uint32_t from, recv_block;
};

struct zcastplan;

/* Makes the part of one member. NULL: out of memory. */
struct zcastplan *zcastplan_create(const struct zcastplan_shape *, uint32_t member);
void zcastplan_destroy(struct zcastplan *);
/* Gives the next step in which the member sends or receives; steps come in ascending order. false: there are no more.
 */
bool zcastplan_next(struct zcastplan *, struct zcastplan_step *);

/* Marks the members with which this member may exchange blocks, whatever the number of blocks: peer[members], all false
 * before. Returns 0 or -ENOMEM. */
int zcastplan_peers(const struct zcastplan_shape *, uint32_t member, bool *peer);

/* Finds the member that sends this member its first block; ZCASTPLAN_NOBODY: it gets none. With 2 blocks or more it is
 * always the same member. Returns 0 or -ENOMEM. */
int zcastplan_first(const struct zcastplan_shape *, uint32_t member, uint32_t *from);

/* The number of steps of the whole group; of hybrids, an upper bound. 0 for a single member; UINT64_MAX: out of memory
 * (hybrids). */
uint64_t zcastplan_steps(const struct zcastplan_shape *);

#endif
