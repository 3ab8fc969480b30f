/* SPDX-License-Identifier: BSD-3-Clause */
/* From a native communicator to an entry in the table of spanning communicators. */
#include "libzip/comm/comm_make.h"

#include "libzip/shim/shim.h"
#include "libzip/world/board.h"
#include "libzip/world/world.h"

/* The local members learn the number of a board. All of them are here. */
static int meet_at_board(MPI_Comm native, int members, int me)
{
	int number = me == 0 ? zboard_claim(members) : -1;
	if (members < 2 || !zboard_are_there())
		return number;
	zshim_block_begin();
	zn.Bcast(&number, 1, MPI_INT, 0, native);
	zshim_block_end();
	return number;
}

int zcomm_make(const struct zcomm *parent, MPI_Comm native, uint64_t id, const int *vrank, int size, int board,
	MPI_Comm *newcomm)
{
	int members = 0, me = 0;
	for (int r = 0; r < size; r++)
		members += zworld_is_local(vrank[r]);
	*newcomm = native;
	if (members == size)
		return MPI_SUCCESS;
	zn.Comm_rank(native, &me);
	if (board == ZCOMM_MAKE_MEET)
		board = meet_at_board(native, members, me);
	struct zboard *b = zboard_join(board, members, me);
	struct zcomm *c = zcomm_create(native, native, id, vrank, size);
	if (c) {
		c->board = b;
		c->fatal = parent->fatal;
		if (c->fatal) /* MPI_Comm_create and MPI_Comm_create_group of MPICH 4.0.2 do not take over the handler
			       */
			zn.Comm_set_errhandler(native, MPI_ERRORS_ARE_FATAL);
		return MPI_SUCCESS;
	}
	zboard_leave(b);
	*newcomm = MPI_COMM_NULL;
	zn.Comm_free(&native);
	return MPI_ERR_NO_MEM;
}
