/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank spawns a process and has collectives with it, in blocking and in nonblocking form, over the
 * intercommunicator, over the merged communicator, over a copy of that, and over an intercommunicator made with it. The
 * child is of no world but its own, and calls native MPI alone. MPICH 4.0.2 of Debian 12 cannot spawn: there both runs
 * say so.
 * twin: timeout=60
 */
#include <mpi.h>
#include <stdio.h>

static int parent_rank = -1; /* of a parent in its world; -1: a child */

static void say(const char *what, int value)
{
	if (parent_rank >= 0)
		printf("rank %d: %s: %d\n", parent_rank, what, value);
}

static void use_intercomm(MPI_Comm inter)
{
	const int root = parent_rank >= 0 ? MPI_ROOT : 0;
	int mine = parent_rank >= 0 ? 3 : 40, sum = 0, value = parent_rank >= 0 ? 7 : 0;
	MPI_Request r;
	MPI_Barrier(inter);
	MPI_Bcast(&value, 1, MPI_INT, root, inter);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, inter); /* of the other group */
	say("the child's sum", sum);
	MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	say("what the child heard", sum);
}

static void use_intracomm(MPI_Comm both, const char *name)
{
	int size, sum = 0, mine = parent_rank >= 0 ? 1 : 20, all[2] = {0, 0};
	MPI_Request r;
	MPI_Comm_size(both, &size);
	say(name, size);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, both);
	say("sum", sum);
	MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, both);
	say("the child's number", all[1]);
	MPI_Ibarrier(both, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Barrier(both);
}

/* A second intercommunicator, made over the merged communicator as its bridge. */
static void use_bridge(MPI_Comm both)
{
	MPI_Comm again;
	MPI_Intercomm_create(MPI_COMM_SELF, 0, both, parent_rank >= 0, 5, &again);
	use_intercomm(again);
	MPI_Comm_free(&again);
}

static void use_all(MPI_Comm inter)
{
	MPI_Comm both, copy, part;
	use_intercomm(inter);
	MPI_Intercomm_merge(inter, parent_rank < 0, &both);
	use_intracomm(both, "merged");
	use_bridge(both);
	MPI_Comm_dup(both, &copy);
	use_intracomm(copy, "copy");
	MPI_Comm_split(copy, 0, 0, &part);
	use_intracomm(part, "split");
	MPI_Comm_free(&part);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&both);
	MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
	MPI_Comm inter;
	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&inter);
	if (inter == MPI_COMM_NULL) {
		MPI_Comm_rank(MPI_COMM_WORLD, &parent_rank);
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		if (MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
			    MPI_ERRCODES_IGNORE) != MPI_SUCCESS) {
			printf("rank %d cannot spawn\n", parent_rank);
			inter = MPI_COMM_NULL;
		}
	}
	if (inter != MPI_COMM_NULL)
		use_all(inter);
	if (parent_rank >= 0) { /* the world is as it was */
		int one = 1, ranks;
		MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		say("ranks", ranks);
	}
	MPI_Finalize();
	return 0;
}
