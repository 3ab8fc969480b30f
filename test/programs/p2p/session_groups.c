/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of communicators, windows and files that come from a session: a communicator made of such a group belongs to
 * the session, so that its buffered sends use the session's buffer. There is no other buffer. The pairs are in one
 * cluster in some layouts, and the program's output is the same. The functions are those of MPI-4.1; with an older
 * MPICH the program does nothing. */
#include "../check.h"

#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
#define BYTES 4096

static char data[BYTES];
static MPI_Session session;

/* Sends to the next rank of the communicator, or of the remote group, whose size is n. */
static void send_around(const char *what, MPI_Comm comm, int n)
{
	int me, class;
	MPI_Status s;
	MPI_Comm_rank(comm, &me);
	class = class_of(MPI_Bsend(data, BYTES, MPI_BYTE, (me + 1) % n, 0, comm));
	printf("rank %d: %s: class %d\n", rank, what, class);
	if (class == MPI_SUCCESS)
		MPI_Recv(data, BYTES, MPI_BYTE, MPI_ANY_SOURCE, 0, comm, &s);
	CHECK_INT(MPI_Session_flush_buffer(session), MPI_SUCCESS);
}

/* Frees the group. */
static void use(const char *what, MPI_Group group)
{
	MPI_Comm comm;
	int n;
	CHECK_INT(MPI_Comm_create_from_group(group, what, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
	MPI_Group_free(&group);
	MPI_Comm_size(comm, &n);
	send_around(what, comm, n);
	MPI_Comm_free(&comm);
}

static void use_comm(const char *what, MPI_Comm comm)
{
	MPI_Group group;
	MPI_Comm_group(comm, &group);
	use(what, group);
	MPI_Comm_free(&comm);
}

static void algebra(MPI_Comm comm)
{
	int n, all[1][3] = {{0, 0, 1}}, zero = 0;
	MPI_Group group, made;
	MPI_Comm_group(comm, &group);
	MPI_Group_size(group, &n);
	all[0][1] = n - 1;
	MPI_Group_union(group, group, &made);
	use("union", made);
	if (mpich_version() < 500) { /* 5.0.2 itself ends by an assertion: the empty group has no session */
		MPI_Group_union(group, MPI_GROUP_EMPTY, &made);
		use("union with nothing", made);
	}
	MPI_Group_intersection(group, group, &made);
	use("intersection", made);
	if (mpich_version() < 500) {
		MPI_Group_difference(group, MPI_GROUP_EMPTY, &made);
		use("difference", made);
	}
	MPI_Group_range_incl(group, 1, all, &made);
	use("range_incl", made);
	MPI_Group_range_excl(group, 0, NULL, &made);
	use("range_excl", made);
	MPI_Group_excl(group, 0, NULL, &made);
	use("excl", made);
	MPI_Comm_rank(comm, &n);
	if (n == 0) {
		MPI_Group_incl(group, 1, &zero, &made);
		use("incl", made);
	}
	MPI_Group_free(&group);
}

static void constructors(MPI_Comm comm)
{
	MPI_Comm made, grid;
	MPI_Request r;
	MPI_Group group;
	int n, remain = 1, period = 0;
	MPI_Comm_size(comm, &n);
	MPI_Comm_group(comm, &group);
	MPI_Comm_dup(comm, &made);
	use_comm("dup", made);
	MPI_Comm_idup(comm, &made, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	use_comm("idup", made);
	MPI_Comm_split(comm, 0, 0, &made);
	use_comm("split", made);
	MPI_Comm_create(comm, group, &made);
	use_comm("create", made);
	MPI_Comm_create_group(comm, group, 1, &made);
	use_comm("create_group", made);
	MPI_Cart_create(comm, 1, &n, &period, 0, &grid);
	MPI_Cart_sub(grid, &remain, &made);
	use_comm("grid", grid);
	use_comm("part of a grid", made);
	MPI_Group_free(&group);
}

static void windows_and_files(MPI_Comm comm, const char *name)
{
	MPI_Win win;
	MPI_File file;
	MPI_Group group;
	MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
	MPI_Win_get_group(win, &group);
	use("window", group);
	MPI_Win_free(&win);
	CHECK_INT(MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_SUCCESS);
	MPI_File_get_group(file, &group);
	use("file", group);
	MPI_File_close(&file);
}

static void inter_of(MPI_Comm inter, int side)
{
	MPI_Comm merged, made;
	MPI_Group mine, theirs, both;
	int n;
	MPI_Comm_remote_size(inter, &n);
	send_around("intercommunicator", inter, n);
	MPI_Comm_group(inter, &mine);
	MPI_Comm_remote_group(inter, &theirs);
	if (side)
		MPI_Group_union(theirs, mine, &both);
	else
		MPI_Group_union(mine, theirs, &both);
	use("local and remote group", both);
	use("local group", mine);
	MPI_Group_free(&theirs);
	MPI_Intercomm_merge(inter, side, &merged);
	MPI_Comm_size(merged, &n);
	send_around("merged", merged, n);
	use_comm("group of merged", merged);
	MPI_Comm_dup(inter, &made);
	MPI_Comm_remote_size(made, &n);
	send_around("duplicate of an intercommunicator", made, n);
	use_comm("group of that", made);
	MPI_Comm_free(&inter);
}

/* Two groups of the communicator. */
static void intercommunicators(MPI_Comm comm, const char *tag)
{
	int me, n, side, range[1][3] = {{0, 0, 2}};
	MPI_Comm half, inter;
	MPI_Group group, even, odd;
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	if (n < 2)
		return;
	side = me % 2;
	range[0][1] = n - 1;
	MPI_Comm_split(comm, side, 0, &half);
	MPI_Intercomm_create(half, 0, comm, 1 - side, 2, &inter);
	MPI_Comm_free(&half);
	inter_of(inter, side);
	MPI_Comm_group(comm, &group);
	MPI_Group_range_incl(group, 1, range, &even);
	MPI_Group_range_excl(group, 1, range, &odd);
	MPI_Intercomm_create_from_groups(side ? odd : even, 0, side ? even : odd, 0, tag, MPI_INFO_NULL,
		MPI_ERRORS_RETURN, &inter);
	inter_of(inter, side);
	MPI_Group_free(&group);
	MPI_Group_free(&even);
	MPI_Group_free(&odd);
}

static void test(void)
{
	int bytes = 4 * (BYTES + MPI_BSEND_OVERHEAD);
	void *buffer = malloc((size_t)bytes), *was;
	char name[] = "session_groups.0";
	MPI_Group group;
	MPI_Comm comm, pair;
	CHECK_INT(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
	CHECK_INT(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), MPI_SUCCESS);
	CHECK_INT(MPI_Comm_create_from_group(group, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
	CHECK_INT(MPI_Session_attach_buffer(session, buffer, bytes), MPI_SUCCESS);
	use("process set", group);
	MPI_Comm_group(WORLD, &group); /* of no session */
	use("world", group);
	use_comm("all", comm);
	MPI_Group_from_session_pset(session, "mpi://SELF", &group);
	use("self", group);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Group_free(&group);
	MPI_Comm_split(comm, rank / 2, 0, &pair);
	name[sizeof(name) - 2] = (char)('1' + rank / 2);
	constructors(pair);
	constructors(comm);
	algebra(pair);
	windows_and_files(pair, name);
	windows_and_files(comm, "session_groups.0");
	intercommunicators(pair, name);
	intercommunicators(comm, "session_groups.0");
	MPI_Comm_free(&pair);
	MPI_Comm_free(&comm);
	CHECK_INT(MPI_Session_detach_buffer(session, &was, &bytes), MPI_SUCCESS);
	CHECK_INT(MPI_Session_finalize(&session), MPI_SUCCESS);
	free(buffer);
}
#else
static void test(void)
{
	printf("rank %d: MPI %d.%d\n", rank, MPI_VERSION, MPI_SUBVERSION);
}
#endif

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	test();
	return end();
}
