/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split_type by neighbourhood (MPICH's MPIX_COMM_TYPE_NEIGHBORHOOD): by a folder that all processes see, by a
 * network that MPICH knows nothing of, by hints that differ, by no hint.
 */
#include "../check.h"

static const char folder[] = "nbhd_common_dirname", network[] = "network_topo";

static void say(const char *what, MPI_Comm c)
{
	int n, me, members[16], sum = 0;

	if (c == MPI_COMM_NULL) {
		printf("rank %d: %s: none\n", rank, what);
		return;
	}
	MPI_Comm_size(c, &n);
	MPI_Comm_rank(c, &me);
	MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, c);
	for (int i = 0; i < n; i++)
		sum = sum * 10 + members[i];
	printf("rank %d: %s: %d of %d: %d\n", rank, what, me, n, sum);
	MPI_Comm_free(&c);
}

static void split(const char *what, int type, const char *key, const char *value, const char *key2, const char *value2)
{
	MPI_Info info;
	MPI_Comm c = MPI_COMM_SELF;

	MPI_Info_create(&info);
	if (key)
		MPI_Info_set(info, key, value);
	if (key2)
		MPI_Info_set(info, key2, value2);
	CHECK_INT(MPI_Comm_split_type(WORLD, type, -rank, info, &c), MPI_SUCCESS);
	MPI_Info_free(&info);
	say(what, c);
}

int main(int argc, char **argv)
{
	const int version = mpich_version(), type = version >= 402 ? 5 : version >= 400 ? 4 : 2;
	MPI_Comm c = MPI_COMM_SELF;

	begin(&argc, &argv);
	split("a folder", type, folder, ".", NULL, NULL);
	split("a folder and a network", type, folder, ".", network, "switch_level:1");
	split("without rank 1", rank == 1 ? MPI_UNDEFINED : type, folder, rank == 1 ? "/other" : ".", NULL, NULL);
	split("only rank 2", rank == 2 ? type : MPI_UNDEFINED, folder, ".", NULL, NULL);
	split("folders that differ", type, folder, rank == 1 ? "./" : ".", NULL, NULL);
	split("one folder", type, rank == 0 ? folder : NULL, ".", NULL, NULL);
	split("a folder or a network", type, rank == 0 ? folder : network, rank == 0 ? "." : "switch_level:1", NULL,
		NULL);
	split("a folder at one, a network at all", type, network, "switch_level:1", rank == 0 ? folder : NULL, ".");
	split("levels that differ", type, network, rank == 0 ? "switch_level:1" : "switch_level:2", NULL, NULL);
	split("a switch", type, network, "switch_level:1", NULL, NULL);
	split("a size", type, network, "subcomm_min_size:2", NULL, NULL);
	split("a torus", type, network, "torus_dimension:1", NULL, NULL);
	split("memory", type, network, "min_mem_size:1", NULL, NULL);
	split("no network", type, network, "nonsense", NULL, NULL);
	split("an unknown hint", type, "unknown", "nonsense", NULL, NULL);
	CHECK_INT(MPI_Comm_split_type(WORLD, type, 0, MPI_INFO_NULL, &c), MPI_SUCCESS);
	say("no hints", c);
	CHECK_INT(MPI_Comm_split_type(WORLD, MPI_UNDEFINED, 0, MPI_INFO_NULL, &c), MPI_SUCCESS);
	say("nobody", c);
	return end();
}
