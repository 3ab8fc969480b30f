/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the members of a communicator in one part share, where all ranks of the part are on one host: small
 * pieces of collectives are handed over there (libzip/coll/inside/shared.h), which takes one look at a counter, and not
 * native messages, which take allocations, matching and the progress of all that is native.
 *
 * A board has operations, numbered from 0, the same in all its members. In each every member has a slot, which it may
 * fill and publish once; the others may look at what is published until they have said that they are done with the
 * operation. Members finish the operations in their order. The slots are used again after ZBOARD_DEPTH operations.
 *
 * Under the shim's lock; between processes by the counters of each member, which only it writes.
 */
#ifndef ZIP_LIBZIP_BOARD_H
#define ZIP_LIBZIP_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ZBOARD_DEPTH 4 /* operations under way: nobody need wait for who has not read yet what it gave before */

struct zboard;

/* In MPI_Init, with zworld.base known: shares memory with all ranks of the part. Collective over the part, blocking.
 * wanted: by this rank; one that does not want to, ranks on several hosts or no memory: then there are no boards, for
 * anybody, which is no error. Returns the number of the board for MPI_COMM_WORLD, or -1. */
int zboard_init(bool wanted);
/* Boards cannot be used or left any more. */
void zboard_fini(void);
/* The same in all ranks of the part. */
bool zboard_are_there(void);

/* By one of the members, who tells the others the number before anybody joins. -1: there is none. */
int zboard_claim(int members);
/* By all members, each with its number among them. NULL: number is -1. */
struct zboard *zboard_join(int number, int members, int me);
/* The last one makes it free. NULL is allowed. */
void zboard_leave(struct zboard *);

/* Bytes of a slot of any board with so many members; 0: they can have none. The same in all ranks of the part. */
size_t zboard_room(int members);

/* As it was joined. */
int zboard_number(const struct zboard *);
/* Bytes of a slot, which is aligned for anything. */
size_t zboard_bytes(const struct zboard *);
/* The next operation. */
uint64_t zboard_next(struct zboard *);
/* My slot. NULL: not yet free. */
void *zboard_mine(struct zboard *, uint64_t operation);
void zboard_publish(struct zboard *, uint64_t operation);
/* What that member has published. NULL: nothing yet. */
const void *zboard_look(const struct zboard *, uint64_t operation, int member);
/* Has this member finished all earlier ones? */
bool zboard_is_turn(const struct zboard *, uint64_t operation);
void zboard_finish(struct zboard *, uint64_t operation);

#endif
