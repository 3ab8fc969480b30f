/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For nested.t: a workflow driver. Every rank runs the command of its arguments once MPI is in use, by system(3), and
 * says what it returned. "session" as the first argument: MPI is in use by a session alone. "spawn": the rank spawns
 * this program, which runs the command.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drive(int rank, const char *command)
{
	fflush(NULL);
	const int rc = system(command);

	printf("driver %d: %d\n", rank, rc);
	fflush(stdout);
}

static int drive_session(const char *command)
{
	MPI_Session session;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	drive(-1, command);
	MPI_Session_finalize(&session);
	return 0;
}

static void spawn(char *program, char *command)
{
	char *argv[] = {command, NULL};
	MPI_Comm child;

	MPI_Comm_spawn(program, argv, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
	MPI_Barrier(child);
	MPI_Comm_disconnect(&child);
}

int main(int argc, char **argv)
{
	MPI_Comm parent;
	int rank;

	if (strcmp(argv[1], "session") == 0)
		return drive_session(argv[2]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parent);
	if (strcmp(argv[1], "spawn") == 0)
		spawn(argv[0], argv[2]);
	else
		drive(rank, argv[1]);
	if (parent != MPI_COMM_NULL) {
		MPI_Barrier(parent);
		MPI_Comm_disconnect(&parent);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
