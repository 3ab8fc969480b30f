/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that stay native on the communicator of one node but meet groups on their way in or out: windows with
 * general active-target synchronisation, files, groups of both. The groups come from the world, which may span
 * clusters. twin: native=no
 */
#include "../check.h"

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm node;
	MPI_Group world, group, others, of_window, of_file;
	MPI_Win win;
	MPI_File file;
	int n, me, result, data[64];
	char path[] = "/dev/null";

	MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &n);
	MPI_Comm_rank(node, &me);
	MPI_Comm_group(WORLD, &world);
	MPI_Comm_group(node, &group);
	int mine[1], in_world[1];
	mine[0] = me;
	MPI_Group_translate_ranks(group, 1, mine, world, in_world);
	CHECK_INT(in_world[0], rank);

	/* each rank puts its number into the window of every other rank */
	for (int i = 0; i < n; i++)
		data[i] = -1;
	MPI_Win_create(data, sizeof data, sizeof(int), MPI_INFO_NULL, node, &win);
	/* the others: all of the world that are on this node, but me */
	MPI_Group here;
	MPI_Group_intersection(world, group, &here);
	MPI_Group_excl(group, 1, mine, &others);
	MPI_Group_size(here, &result);
	CHECK_INT(result, n);
	MPI_Barrier(node);
	if (n > 1) {
		MPI_Win_post(others, 0, win);
		MPI_Win_start(others, 0, win);
		for (int i = 0; i < n; i++)
			if (i != me)
				MPI_Put(&rank, 1, MPI_INT, i, me, 1, MPI_INT, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	}
	for (int i = 0; i < n; i++) {
		int peer[1];
		MPI_Group_translate_ranks(group, 1, &i, world, peer);
		CHECK_INT(data[i], i == me ? -1 : peer[0]);
	}
	MPI_Win_get_group(win, &of_window);
	MPI_Group_compare(of_window, group, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_Group_rank(of_window, &result);
	CHECK_INT(result, me);
	MPI_Win_free(&win);

	CHECK_INT(MPI_File_open(node, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_SUCCESS);
	MPI_File_get_group(file, &of_file);
	MPI_Group_compare(of_file, of_window, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_File_close(&file);

	/* a group with members elsewhere, if there are any, is refused where a native group is needed */
	if (n < size) {
		MPI_Win_create(data, sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
		MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
		int class, rc = MPI_Win_post(world, 0, win);
		MPI_Error_class(rc, &class);
		CHECK_INT(class, MPI_ERR_UNSUPPORTED_OPERATION);
		MPI_Win_free(&win);
	}
	MPI_Group_free(&world);
	MPI_Group_free(&group);
	MPI_Group_free(&here);
	MPI_Group_free(&others);
	MPI_Group_free(&of_window);
	MPI_Group_free(&of_file);
	MPI_Comm_free(&node);
	return end();
}
