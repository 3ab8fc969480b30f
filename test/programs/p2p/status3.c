/* SPDX-License-Identifier: BSD-3-Clause */
/* The exit status of the job is the highest one of any rank. twin: status=3 */
#include "../check.h"

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Barrier(WORLD);
	printf("rank %d ends\n", rank);
	MPI_Finalize();
	return rank == 2 ? 3 : 0;
}
