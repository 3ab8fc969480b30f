/* SPDX-License-Identifier: BSD-3-Clause */
/* From a native communicator to an entry in the table of spanning communicators. */
#include "libzip/comm/comm_make.h"

#include "libzip/shim/shim.h"
#include "libzip/world/board.h"
#include "libzip/world/world.h"

int zcomm_make(const struct zcomm *parent, MPI_Comm native, uint64_t id, const int *vrank, int size)
{
	int members = 0;
	for (int r = 0; r < size; r++)
		members += zworld_is_local(vrank[r]);
	if (members == size)
		return MPI_SUCCESS;
	struct zcomm *c = zcomm_create(native, native, id, vrank, size);
	if (!c)
		return MPI_ERR_NO_MEM;
	c->fatal = parent->fatal;
	c->session = parent->session;
	if (c->fatal) /* MPI_Comm_create and MPI_Comm_create_group of MPICH 4.0.2 do not take over the handler */
		zn.Comm_set_errhandler(native, MPI_ERRORS_ARE_FATAL);
	return MPI_SUCCESS;
}

void zcomm_make_join(MPI_Comm comm, int board)
{
	struct zcomm *c = zcomm_find(comm);
	if (c && !c->local)
		c->board = zboard_join(board, c->nlocal, zcomm_shadow_rank(c, c->rank));
}

void zcomm_make_board(MPI_Comm comm)
{
	const struct zcomm *c = zcomm_find(comm);
	if (!c || c->local)
		return;
	int number = zcomm_shadow_rank(c, c->rank) == 0 ? zboard_claim(c->nlocal) : -1;
	if (c->nlocal > 1 && zboard_are_there()) {
		zshim_block_begin();
		zn.Bcast(&number, 1, MPI_INT, 0, c->shadow);
		zshim_block_end();
	}
	zcomm_make_join(comm, number);
}

void zcomm_make_undo(MPI_Comm comm)
{
	struct zcomm *c = comm != MPI_COMM_NULL ? zcomm_find(comm) : NULL;
	if (c) {
		zcomm_drop(c);
	} else if (comm != MPI_COMM_NULL) {
		zshim_callback_begin(); /* deletes attributes */
		zn.Comm_free(&comm);
		zshim_callback_end();
	}
}

int zcomm_make_end(MPI_Comm made, MPI_Comm parent, const char *name, const struct zcomm_outcome *o, MPI_Comm *newcomm)
{
	*newcomm = MPI_COMM_NULL;
	if (o->failure != 0) {
		zcomm_make_undo(made);
		zcomm_reap();
		return zcomm_outcome_raise(parent, name, o);
	}
	if (made != MPI_COMM_NULL)
		zcomm_make_board(made);
	*newcomm = made;
	return MPI_SUCCESS;
}
