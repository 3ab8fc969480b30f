/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplications copy the attributes that the communicator has when they are called, although these are changed or
 * deleted before the duplications are complete, and although others are under way.
 * twin: layouts=2+2,1+3,1+1+2 timeout=60
 */
#include "../check.h"

#define N 3

static int copies, deletions;
static MPI_Comm whole, last; /* all ranks; all but rank 0, which one cluster may have */
static int first_key, second_key;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	(void)comm, (void)keyval, (void)extra;
	copies++;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)value, (void)extra;
	deletions++;
	return MPI_SUCCESS;
}

static void check_attr(MPI_Comm c, int key, const int *expected)
{
	int *value = NULL, flag = -1;
	MPI_Comm_get_attr(c, key, &value, &flag);
	CHECK_INT(flag, expected != NULL);
	if (flag && expected)
		CHECK_INT(*value, *expected);
}

static void change_behind(MPI_Comm c)
{
	static int values[N + 1] = {10, 11, 12, 13};
	MPI_Comm made[2 * N];
	MPI_Request r[2 * N];
	MPI_Status got[2 * N];
	MPI_Comm_set_attr(c, second_key, &values[0]);
	for (int i = 0; i < N; i++) {
		MPI_Comm_set_attr(c, first_key, &values[i]);
		MPI_Comm_idup(c, &made[2 * i], &r[2 * i]);
		MPI_Comm_idup_with_info(c, MPI_INFO_NULL, &made[2 * i + 1], &r[2 * i + 1]);
	}
	MPI_Comm_set_attr(c, first_key, &values[N]);
	MPI_Comm_delete_attr(c, second_key);
	MPI_Waitall(2 * N, r, got);
	for (int i = 0; i < 2 * N; i++) {
		check_attr(made[i], first_key, &values[i / 2]);
		check_attr(made[i], second_key, &values[0]);
		MPI_Comm_free(&made[i]);
	}
	check_attr(c, first_key, &values[N]);
	check_attr(c, second_key, NULL);
	MPI_Comm_delete_attr(c, first_key);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_dup(WORLD, &whole);
	MPI_Comm_split(WORLD, rank > 0 ? 0 : MPI_UNDEFINED, rank, &last);
	MPI_Comm_create_keyval(copy, delete, &first_key, NULL);
	MPI_Comm_create_keyval(copy, delete, &second_key, NULL);
	change_behind(whole);
	if (last != MPI_COMM_NULL) {
		change_behind(last);
		MPI_Comm_free(&last);
	}
	CHECK_INT(copies, rank > 0 ? 8 * N : 4 * N);
	CHECK_INT(deletions - copies, rank > 0 ? 2 * (N + 2) : N + 2);
	MPI_Comm_free_keyval(&first_key);
	MPI_Comm_free_keyval(&second_key);
	MPI_Comm_free(&whole);
	return end();
}
