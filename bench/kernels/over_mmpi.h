/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With -DOVER_MMPI the kernels run over MMPI instead of MPI: this header gives them other functions. In the thesis,
 * too, programs had to be rewritten for MMPI. The job has one rank more, the forwarder; it ends in MPI_Init. MMPI_LOW
 * (the environment) is the number of ranks in the low group.
 */
#ifndef ZIP_BENCH_KERNELS_OVER_MMPI_H
#define ZIP_BENCH_KERNELS_OVER_MMPI_H

#include <stdlib.h>

#include "zipbench/mmpi/mmpi.h"

static inline int over_init(int *argc, char ***argv)
{
	const char *low = getenv("MMPI_LOW");
	MPI_Init(argc, argv);
	if (!mmpi_begin(low ? atoi(low) : 0)) {
		MPI_Finalize();
		exit(0);
	}
	return MPI_SUCCESS;
}

static inline int over_finalize(void)
{
	mmpi_end();
	return MPI_Finalize();
}

#define MPI_Init over_init
#define MPI_Finalize over_finalize
#define MPI_Comm_rank MMPI_Comm_rank
#define MPI_Comm_size MMPI_Comm_size
#define MPI_Send MMPI_Send
#define MPI_Recv MMPI_Recv
#define MPI_Isend MMPI_Isend
#define MPI_Barrier MMPI_Barrier
#define MPI_Alltoall MMPI_Alltoall
#define MPI_Alltoallv MMPI_Alltoallv
#define MPI_Allreduce MMPI_Allreduce

#endif
