/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the programs about files. */
#ifndef ZIP_TEST_FILES_H
#define ZIP_TEST_FILES_H

#include "../check.h"

#define OK(call) CHECK_INT(class_of(call), MPI_SUCCESS)

/* Makes the data of all writers visible to all ranks. */
static inline void settle(MPI_File f)
{
	OK(MPI_File_sync(f));
	MPI_Barrier(WORLD);
	OK(MPI_File_sync(f));
}

/* A printed digest of the bytes of the file, by rank 0, who reads them by a handle of its own. */
static inline void show(const char *what, const char *name)
{
	MPI_Barrier(WORLD);
	if (rank == 0) {
		MPI_File f;
		MPI_Offset n = 0;
		MPI_Status status;
		int got = -1;
		OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
		MPI_File_get_size(f, &n);
		char *all = malloc((size_t)n + 1);
		OK(MPI_File_read_at(f, 0, all, (int)n, MPI_BYTE, &status));
		MPI_Get_count(&status, MPI_BYTE, &got);
		CHECK_INT(got, n);
		printf("%s: %lld bytes, digest %08x\n", what, (long long)n, digest(all, (size_t)n));
		free(all);
		MPI_File_close(&f);
	}
	MPI_Barrier(WORLD);
}

#endif
