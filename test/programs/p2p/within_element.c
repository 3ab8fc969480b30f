/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that ends within an integer of a receive with gaps, whose value would be made up: an error. Native MPI has
 * one, too, but some MPICHs lose other messages then, so this is for two clusters only. twin: native=no timeout=30 */
#include "../check.h"

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	const int at[] = {4, 8, 16}, lengths[] = {1, 2, 1}, all[] = {4, 8, 9, 16};
	MPI_Datatype ints, spread;
	MPI_Type_indexed(3, lengths, at, MPI_INT, &ints);
	MPI_Type_commit(&ints);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int n = 0; n <= 16; n++) {
		char out[64];
		int in[32];
		MPI_Type_vector(n, 1, 2, MPI_CHAR, &spread);
		MPI_Type_commit(&spread);
		memset(out, 1, sizeof out);
		memset(in, 0, sizeof in);
		if (rank == size - 1)
			MPI_Send(out, 1, spread, 0, n, WORLD);
		if (rank == 0) {
			MPI_Status st;
			int elements = -1, rc = MPI_Recv(in, 1, ints, size - 1, n, WORLD, &st);
			CHECK_INT(class_of(rc), n % 4 == 0 ? MPI_SUCCESS : MPI_ERR_TYPE);
			MPI_Get_elements(&st, ints, &elements);
			CHECK_INT(elements, n / 4);
			for (int i = 0; i < n / 4; i++)
				CHECK_INT(in[all[i]], 0x01010101);
			CHECK_INT(in[5], 0);
		}
		MPI_Type_free(&spread);
	}
	MPI_Type_free(&ints);
	return end();
}
