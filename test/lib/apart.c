/* SPDX-License-Identifier: BSD-3-Clause */
/* usage: apart FOLDER NAME MODE...: ranks from 2 on change to another folder first. Then all ranks open the file NAME,
 * which may be a relative name in one folder or in two. MODE: read, write, both, create, exclusive, delete; fatal:
 * errors of opening are fatal. Each rank prints the class of the error, ranks 0 and 2 the text, too. Then it writes its
 * number, or reads by the shared pointer if it may not write, and prints that class. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *word;
	int mode;
} modes[] = {{"read", MPI_MODE_RDONLY}, {"write", MPI_MODE_WRONLY}, {"both", MPI_MODE_RDWR},
	{"create", MPI_MODE_CREATE}, {"exclusive", MPI_MODE_EXCL}, {"delete", MPI_MODE_DELETE_ON_CLOSE}};

int main(int argc, char **argv)
{
	int rank, size, amode = 0, class = -1, n;
	char text[MPI_MAX_ERROR_STRING];
	MPI_File f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 3 || (rank >= 2 && chdir(argv[1]) != 0))
		MPI_Abort(MPI_COMM_WORLD, 2);
	for (int i = 3; i < argc; i++)
		for (unsigned m = 0; m < sizeof modes / sizeof *modes; m++)
			amode |= strcmp(argv[i], modes[m].word) == 0 ? modes[m].mode : 0;
	if (strcmp(argv[argc - 1], "fatal") == 0)
		MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
	int rc = MPI_File_open(MPI_COMM_WORLD, argv[2], amode, MPI_INFO_NULL, &f);
	MPI_Error_class(rc, &class);
	MPI_Error_string(rc, text, &n);
	printf("rank %d: class %d\n", rank, class);
	if (rc != MPI_SUCCESS && rank % 2 == 0)
		printf("rank %d: %s\n", rank, text);
	if (rc == MPI_SUCCESS) {
		char c = (char)('0' + rank);
		if ((amode & MPI_MODE_RDONLY) == 0)
			MPI_File_write_at_all(f, rank, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE);
		else
			MPI_Error_class(MPI_File_read_ordered(f, &c, 1, MPI_BYTE, MPI_STATUS_IGNORE), &class);
		printf("rank %d: shared %d\n", rank, class);
		MPI_File_close(&f);
	}
	MPI_Finalize();
	return 0;
}
