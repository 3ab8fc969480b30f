/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that end within a predefined element of a receive with gaps: MPI_ERR_TYPE, and only whole elements come. So
 * does native MPI, with MPI_ERR_TYPE or MPI_ERR_TRUNCATE; but some MPICHs lose other messages then. twin: native=no
 * one_sided=yes timeout=60 */
#include "../check.h"

struct kind {
	MPI_Datatype type;
	int size, ends[5]; /* where its predefined elements end */
};

static int whole_of(const struct kind *k, int n)
{
	int whole = 0;

	for (int i = 0; i < 5 && k->ends[i] <= n % k->size; i++)
		whole = k->ends[i];
	return n - n % k->size + whole;
}

static void receive(const struct kind *k, int n, int from, int source, int tag)
{
	MPI_Status st;
	MPI_Aint lb, extent;
	int count = n / k->size + 2, whole = whole_of(k, n), bytes = -1, ones = 0;

	MPI_Type_get_extent(k->type, &lb, &extent);
	char *in = calloc((size_t)count + 1, (size_t)extent);
	int rc = MPI_Recv(in, count, k->type, source, tag, WORLD, &st);
	CHECK_INT(class_of(rc), whole == n ? MPI_SUCCESS : MPI_ERR_TYPE);
	CHECK_INT(st.MPI_SOURCE, from);
	MPI_Get_elements(&st, MPI_BYTE, &bytes);
	CHECK_INT(bytes, whole);
	for (size_t i = 0; i < (size_t)(count * extent); i++)
		ones += in[i];
	CHECK_INT(ones, whole);
	free(in);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	const int at[] = {1, 3, 6}, lengths[] = {1, 2, 1}, elements[] = {0, 1, 20000};
	const MPI_Aint bytes_at[] = {0, 8, 24};
	MPI_Datatype of[] = {MPI_SHORT, MPI_DOUBLE, MPI_CHAR};
	struct kind kinds[] = {{MPI_DATATYPE_NULL, 16, {4, 8, 12, 16, 99}},
		{MPI_DATATYPE_NULL, 19, {2, 10, 18, 19, 99}}, {MPI_DOUBLE_INT, 12, {12, 99}}};
	char *out = malloc(20000 * 20);
	MPI_Type_indexed(3, lengths, at, MPI_INT, &kinds[0].type);
	MPI_Type_create_struct(3, lengths, bytes_at, of, &kinds[1].type);
	memset(out, 1, 20000 * 20);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 3; i++) {
		MPI_Type_commit(&kinds[i].type);
		for (int e = 0; e < 3; e++) {
			for (int n = elements[e] * kinds[i].size; n < (elements[e] + 1) * kinds[i].size; n++) {
				if (rank == size - 1) {
					MPI_Send(out, n, MPI_BYTE, 0, 0, WORLD);
					MPI_Send(out, n, MPI_BYTE, 0, 1, WORLD);
				} else if (rank == 1 && i < 2) {
					MPI_Send(out, n, MPI_BYTE, 0, 2, WORLD);
				} else if (rank == 0) {
					receive(&kinds[i], n, size - 1, size - 1, 0);
					receive(&kinds[i], n, size - 1, MPI_ANY_SOURCE, 1);
					if (i < 2) /* native MPI itself receives pairs of its ranks */
						receive(&kinds[i], n, 1, MPI_ANY_SOURCE, 2);
				}
			}
		}
		if (i < 2)
			MPI_Type_free(&kinds[i].type);
	}
	free(out);
	return end();
}
