/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks like another MPI: Open MPI (-DOPEN_MPI), or one that nobody knows. Its calls say that they have been reached.
 */
#include <stdio.h>
#include <string.h>

int PMPI_Init(int *, char ***), PMPI_Comm_rank(void *, int *);
int MPI_Init(int *, char ***) __attribute__((weak, alias("PMPI_Init")));
int MPI_Comm_rank(void *, int *) __attribute__((weak, alias("PMPI_Comm_rank")));
int PMPI_Get_library_version(char *, int *);

#ifdef OPEN_MPI
extern char ompi_mpi_comm_world;
char ompi_mpi_comm_world;
#endif

int PMPI_Init(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	puts("the other MPI runs");
	return 0;
}

int PMPI_Comm_rank(void *comm, int *rank)
{
	(void)comm;
	*rank = 0;
	return 0;
}

int PMPI_Get_library_version(char *text, int *len)
{
	strcpy(text, "Pigeon MPI 3.1, built in a loft\nand more");
	*len = (int)strlen(text);
	return 0;
}
