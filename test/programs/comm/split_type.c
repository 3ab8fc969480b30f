/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Comm_split_type by hardware on a communicator that spans clusters (MPI-4.1 section 7.4.2). A host belongs to one
 * cluster, so no result is larger than a cluster, and splitting by host is what the whole communicator is split by
 * first. twin: native=no
 */
#include "../check.h"

static MPI_Comm host;

/* What the new communicator is: 'n' none, 'h' the processes of my host, 'o' something else. */
static char what(MPI_Comm c)
{
	int cmp;

	if (c == MPI_COMM_NULL)
		return 'n';
	MPI_Comm_compare(c, host, &cmp);
	return cmp == MPI_CONGRUENT ? 'h' : 'o';
}

static void split(int type, const char *key, const char *value, char wanted, const char *told)
{
	char got[MPI_MAX_INFO_VAL] = "";
	int flag;
	MPI_Info info;
	MPI_Comm c = MPI_COMM_SELF;

	MPI_Info_create(&info);
	if (key)
		MPI_Info_set(info, key, value);
	CHECK_INT(MPI_Comm_split_type(WORLD, type, rank, info, &c), MPI_SUCCESS);
	CHECK(what(c) == wanted, "type %d, %s=%s: %c, not %c", type, key ? key : "", key ? value : "", what(c), wanted);
	MPI_Info_get(info, "mpi_hw_resource_type", sizeof got - 1, got, &flag);
	CHECK(!told || strcmp(got, told) == 0, "type %d: the resource is \"%s\"", type, got);
	if (c != MPI_COMM_NULL)
		MPI_Comm_free(&c);
	MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
	static const char resource[] = "mpi_hw_resource_type", shared[] = "mpi_shared_memory";
	MPI_Comm c = MPI_COMM_SELF;

	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
	int n, class;
	MPI_Comm_size(host, &n);
	CHECK(n < size, "%d of %d processes share a host of one cluster", n, size);

	MPI_Comm_split_type(WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
	CHECK_INT(c == MPI_COMM_NULL, rank == 0);
	if (c != MPI_COMM_NULL)
		MPI_Comm_free(&c);
	split(MPI_COMM_TYPE_SHARED, resource, "nonsense", 'h', NULL);
#ifdef MPI_COMM_TYPE_HW_GUIDED
	split(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL, 'n', NULL);
	split(MPI_COMM_TYPE_HW_GUIDED, resource, shared, 'h', shared);
	split(MPI_COMM_TYPE_HW_GUIDED, resource, "nonsense", 'n', NULL);
	split(MPI_COMM_TYPE_HW_UNGUIDED, "mpi_unknown", "nonsense", 'h', "node");
	CHECK_INT(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &c), MPI_SUCCESS);
	CHECK(what(c) == 'h', "unguided without hints: %c", what(c));
	MPI_Comm_free(&c);
#endif
#ifdef MPI_COMM_TYPE_RESOURCE_GUIDED
	split(MPI_COMM_TYPE_RESOURCE_GUIDED, NULL, NULL, 'n', NULL);
	split(MPI_COMM_TYPE_RESOURCE_GUIDED, resource, shared, 'h', shared);
	split(MPI_COMM_TYPE_RESOURCE_GUIDED, resource, "nonsense", 'n', NULL);
	/* the native answer, and never the processes of one cluster */
	split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD", 'n', NULL);
	split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF", 'n', NULL);
#endif
	MPI_Error_class(MPI_Comm_split_type(WORLD, 12345, 0, MPI_INFO_NULL, &c), &class);
	CHECK_INT(class, MPI_ERR_ARG);
	MPI_Comm_free(&host);
	return end();
}
