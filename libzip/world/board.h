/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the members of a communicator in one part share, where all ranks of the part are on one host.
 * Collectives hand small pieces over there (libzip/coll/inside/shared.h). That takes one look at a counter. Native
 * messages would take allocations, matching and the progress of all native operations.
 *
 * A board has operations, numbered from 0, the same in all its members. In each operation every member has a slot,
 * which it may fill and publish once. The others may read a published slot until they have said that they are done
 * with the operation. Members finish the operations in their order. The slots are used again after ZBOARD_DEPTH
 * operations.
 *
 * Under the shim's lock; between processes by the counters of each member, which only the member writes.
 */
#ifndef ZIP_LIBZIP_BOARD_H
#define ZIP_LIBZIP_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZBOARD_DEPTH 4 /* operations under way: a member need not wait for slow readers of earlier slots */

struct zboard;

/* In MPI_Init, with zworld.base known: shares memory with all ranks of the part. Collective over the part, blocking.
 * wanted: this rank wants boards, and all ranks of the part are on its host. If a rank does not, or without memory, no
 * rank has boards; that is no error. Returns the number of the board for MPI_COMM_WORLD, or -1. */
int zboard_init(bool wanted);
/* Frees all; boards cannot be used or left afterwards. */
void zboard_fini(void);
/* Are there boards? The same in all ranks of the part. */
bool zboard_are_there(void);

/* Takes a free board. One member calls it, and tells the others the number before any joins. -1: there is none. */
int zboard_claim(int members);
/* Joins a board. All members call it, each with its index among them. NULL: number is -1. */
struct zboard *zboard_join(int number, int members, int me);
/* Leaves a board; the last member makes it free. NULL is allowed. */
void zboard_leave(struct zboard *);

/* Bytes of a slot in any board with so many members; 0: they can have no board. The same in all ranks of the part. */
size_t zboard_room(int members);

/* The number with which it was joined. */
int zboard_number(const struct zboard *);
/* Bytes of a slot, which is aligned for any type. */
size_t zboard_bytes(const struct zboard *);
/* Begins the next operation and returns its number. */
uint64_t zboard_next(struct zboard *);
/* This rank's slot. NULL: not yet free. */
void *zboard_mine(struct zboard *, uint64_t operation);
void zboard_publish(struct zboard *, uint64_t operation);
/* The slot that a member has published. NULL: nothing yet. */
const void *zboard_look(const struct zboard *, uint64_t operation, int member);
/* Has this member finished all earlier ones? */
bool zboard_is_turn(const struct zboard *, uint64_t operation);
void zboard_finish(struct zboard *, uint64_t operation);

#endif
