/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions alone, without MPI_Init: several threads open the first ones at the same time; process sets, communicators
 * of groups (all, in another order, disjoint halves at once, one process), intercommunicators; a library that opens and
 * closes its own again and again. twin: endpoints=2 layouts=2+2,1+3
 */
#include "../check.h"

#include <pthread.h>

static MPI_Comm comm_of(MPI_Session session, const char *pset, const char *tag)
{
	MPI_Group group;
	MPI_Comm comm;

	CHECK_INT(MPI_Group_from_session_pset(session, pset, &group), MPI_SUCCESS);
	CHECK_INT(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_SUCCESS);
	MPI_Group_free(&group);
	return comm;
}

/* Traffic; the sum of the ranks in it. */
static int use(MPI_Comm comm)
{
	int me, n, sum = 0, from = -1;
	static char large[2][300000];

	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &n);
	MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK_INT(sum, n * (n - 1) / 2);
	MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 5, &from, 1, MPI_INT, (me + n - 1) % n, 5, comm, MPI_STATUS_IGNORE);
	CHECK_INT(from, (me + n - 1) % n);
	if (n > 1 && me == 0) {
		memset(large[0], 7, sizeof(large[0]));
		MPI_Send(large[0], sizeof(large[0]), MPI_CHAR, n - 1, 6, comm);
	} else if (me == n - 1 && n > 1) {
		MPI_Recv(large[1], sizeof(large[1]), MPI_CHAR, 0, 6, comm, MPI_STATUS_IGNORE);
		CHECK_INT(large[1][sizeof(large[1]) - 1], 7);
		memset(large[1], 0, sizeof(large[1]));
	}
	MPI_Barrier(comm);
	return sum;
}

/* --- several threads */

static pthread_barrier_t together;

/* MPICH 5 takes the lowest level if nothing is said. */
static MPI_Session open_threaded(void)
{
	MPI_Session session;
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
	CHECK_INT(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
	MPI_Info_free(&info);
	return session;
}

static void *first_use(void *tag)
{
	MPI_Session session;
	MPI_Comm comm;
	int n, in = 3, out = 0;

	pthread_barrier_wait(&together);
	session = open_threaded();
	whole_lines();
	comm = comm_of(session, "mpi://WORLD", tag);
	MPI_Comm_size(comm, &n);
	for (int i = 0; i < 20; i++) {
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comm);
		CHECK_INT(out, 3 * n);
	}
	MPI_Comm_free(&comm);
	pthread_barrier_wait(&together);
	CHECK_INT(MPI_Session_finalize(&session), MPI_SUCCESS);
	CHECK(session == MPI_SESSION_NULL, "the handle stays");
	return NULL;
}

/* The one that stays open: MPICH 4.0.2 crashes if one is opened when there was none for a while. */
static MPI_Session threads(void)
{
	MPI_Session session;
	pthread_t thread[2];

	pthread_barrier_init(&together, NULL, 2);
	pthread_create(&thread[0], NULL, first_use, "org.example.one");
	pthread_create(&thread[1], NULL, first_use, "org.example.two");
	session = open_threaded();
	whole_lines();
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return session;
}

/* --- what there is */

static void psets(MPI_Session session)
{
	int n = 0, flag, is_initialized;
	MPI_Comm comm = comm_of(session, "mpi://WORLD", "psets");

	MPI_Comm_rank(comm, &rank);
	MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n);
	for (int i = 0; i < n; i++) {
		char name[100] = "", size[20] = "";
		int len = sizeof(name);
		MPI_Info info;
		MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &len, name);
		CHECK_INT(MPI_Session_get_pset_info(session, name, &info), MPI_SUCCESS);
		MPI_Info_get(info, "mpi_size", sizeof(size) - 1, size, &flag);
		MPI_Info_free(&info);
		printf("rank %d: %s has %s\n", rank, name, size);
	}
	MPI_Initialized(&is_initialized);
	printf("rank %d: the world model is %sinitialized\n", rank, is_initialized ? "" : "not ");
	MPI_Comm_free(&comm);
}

static void groups(MPI_Session session)
{
	MPI_Group all, some;
	MPI_Comm comm;
	MPI_Errhandler handler;
	int me, place, range[1][3];

	MPI_Group_from_session_pset(session, "MPI://world", &all); /* names of process sets have no case */
	MPI_Group_size(all, &size);
	MPI_Group_rank(all, &me);

	range[0][0] = size - 1, range[0][1] = 0, range[0][2] = -1;
	MPI_Group_range_incl(all, 1, range, &some);
	MPI_Comm_create_from_group(some, "backwards", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
	MPI_Comm_rank(comm, &place);
	CHECK_INT(place, size - 1 - me);
	MPI_Comm_get_errhandler(comm, &handler);
	CHECK(handler == MPI_ERRORS_RETURN, "another error handler");
	CHECK(MPI_Send(&me, 1, MPI_INT, size, 0, comm) != MPI_SUCCESS, "a rank that is none");
	use(comm);
	MPI_Comm_free(&comm);
	MPI_Group_free(&some);

	/* both halves of a comb at the same time, each without the other */
	range[0][0] = me % 2, range[0][1] = size - 1, range[0][2] = 2;
	MPI_Group_range_incl(all, 1, range, &some);
	MPI_Comm_create_from_group(some, me % 2 ? "odd" : "even", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Comm_rank(comm, &place);
	printf("rank %d: rank %d of the comb, the sum is %d\n", me, place, use(comm));
	MPI_Comm_free(&comm);
	MPI_Group_free(&some);

	/* the lower and the upper half */
	MPI_Group lower, upper;
	MPI_Comm between;
	int half = size / 2, told = -1, remote;
	range[0][0] = 0, range[0][1] = half - 1, range[0][2] = 1;
	MPI_Group_range_incl(all, 1, range, &lower);
	range[0][0] = half, range[0][1] = size - 1;
	MPI_Group_range_incl(all, 1, range, &upper);
	if (me < half)
		MPI_Intercomm_create_from_groups(lower, 0, upper, size - half - 1, "between", MPI_INFO_NULL,
			MPI_ERRORS_RETURN, &between);
	else
		MPI_Intercomm_create_from_groups(upper, size - half - 1, lower, 0, "between", MPI_INFO_NULL,
			MPI_ERRORS_RETURN, &between);
	MPI_Comm_remote_size(between, &remote);
	CHECK_INT(remote, me < half ? size - half : half);
	MPI_Comm_rank(between, &place);
	if (place < remote && place < (me < half ? half : size - half))
		MPI_Sendrecv(&me, 1, MPI_INT, place, 1, &told, 1, MPI_INT, place, 1, between, MPI_STATUS_IGNORE);
	printf("rank %d: %d is opposite\n", me, told);
	MPI_Comm_free(&between);
	MPI_Group_free(&lower);
	MPI_Group_free(&upper);
	MPI_Group_free(&all);

	comm = comm_of(session, "mpi://SELF", "self");
	MPI_Comm_size(comm, &half);
	CHECK_INT(half, 1);
	MPI_Comm_free(&comm);
}

int main(void)
{
	MPI_Session session, other;

	session = threads();
	psets(session);
	groups(session);
	/* a library that comes and goes */
	for (int i = 0; i < 5; i++) {
		MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
		whole_lines();
		MPI_Comm comm = comm_of(other, "mpi://WORLD", "library");
		use(comm);
		MPI_Comm_free(&comm);
		MPI_Session_finalize(&other);
	}
	MPI_Session_finalize(&session);
	printf("rank %d: %s\n", rank, errors ? "errors" : "ok");
	return errors != 0;
}
