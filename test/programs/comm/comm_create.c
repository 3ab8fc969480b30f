/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making communicators: groups in every order and only their members calling, several at a time, nonblocking duplicates
 * among other collectives, attribute callbacks, wrong arguments; and no rank stops making progress. twin: timeout=60
 */
#include "../check.h"

static void exercise(MPI_Comm c, const int *members, int n)
{
	int r, s, ranks[64], sum;
	MPI_Comm_rank(c, &r);
	MPI_Comm_size(c, &s);
	CHECK_INT(s, n);
	MPI_Allgather(&rank, 1, MPI_INT, ranks, 1, MPI_INT, c);
	for (int i = 0; i < n && i < s; i++)
		CHECK_INT(ranks[i], members[i]);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
	int to = (r + 1) % s, from = (r + s - 1) % s, got = -1;
	MPI_Sendrecv(&rank, 1, MPI_INT, to, 1, &got, 1, MPI_INT, from, 1, c, MPI_STATUS_IGNORE);
	CHECK_INT(got, members[from]);
}

/* Every subset of the first four ranks, forwards and backwards; only members call. */
static void subsets(MPI_Comm parent)
{
	MPI_Group all, g;
	MPI_Comm c;
	int n4 = size < 4 ? size : 4;
	MPI_Comm_group(parent, &all);
	for (int mask = 1; mask < 1 << n4; mask++) {
		int members[4], n = 0, mine = 0;
		for (int i = 0; i < n4; i++) {
			int r = mask % 2 ? i : n4 - 1 - i;
			if (mask >> r & 1) {
				members[n++] = r;
				mine |= r == rank;
			}
		}
		if (!mine)
			continue;
		MPI_Group_incl(all, n, members, &g);
		MPI_Comm_create_group(parent, g, mask, &c);
		exercise(c, members, n);
		MPI_Comm_free(&c);
		MPI_Group_free(&g);
	}
	MPI_Group_free(&all);
}

static int copies, deletes;

/* Attribute callbacks ask about the communicator and see the whole of it. */
static int copy_attr(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag)
{
	int s;
	(void)key;
	MPI_Comm_size(old, &s);
	CHECK_INT(s, *(int *)extra);
	*(void **)out = (char *)in + 1;
	*flag = 1;
	copies++;
	return MPI_SUCCESS;
}

static int delete_attr(MPI_Comm c, int key, void *value, void *extra)
{
	int r;
	(void)key, (void)value, (void)extra;
	MPI_Comm_rank(c, &r);
	deletes++;
	return MPI_SUCCESS;
}

static void duplicates(void)
{
	enum { N = 6 };
	MPI_Comm c[N], parent;
	MPI_Request q[3 * N];
	int key, flag, value[N], sum[N], nq = 0;
	void *attr;
	MPI_Comm_dup(WORLD, &parent);
	MPI_Comm_create_keyval(copy_attr, delete_attr, &key, &size);
	MPI_Comm_set_attr(parent, key, (void *)100);
	for (int i = 0; i < N; i++) {
		value[i] = rank == i % size ? i * 11 : -1;
		MPI_Ibcast(&value[i], 1, MPI_INT, i % size, parent, &q[nq++]);
		MPI_Comm_idup(parent, &c[i], &q[nq++]);
		MPI_Iallreduce(&rank, &sum[i], 1, MPI_INT, MPI_SUM, parent, &q[nq++]);
	}
	MPI_Waitall(nq, q, MPI_STATUSES_IGNORE);
	CHECK_INT(copies, N);
	for (int i = 0; i < N; i++) {
		int result, all[64];
		CHECK_INT(value[i], i * 11);
		CHECK_INT(sum[i], size * (size - 1) / 2);
		MPI_Comm_compare(parent, c[i], &result);
		CHECK_INT(result, MPI_CONGRUENT);
		MPI_Comm_get_attr(c[i], key, &attr, &flag);
		CHECK(flag && attr == (void *)101, "attribute of duplicate %d", i);
		for (int r = 0; r < size; r++)
			all[r] = r;
		exercise(c[i], all, size);
		MPI_Comm_free(&c[i]);
	}
	MPI_Comm_free(&parent);
	CHECK_INT(deletes, N + 1);
	MPI_Comm_free_keyval(&key);
}

/* Parents inside a cluster (or, elsewhere, across) with groups of ours. */
static void small_parents(void)
{
	MPI_Comm half, c;
	MPI_Group all, g;
	int r, n, first = 0;
	MPI_Comm_split(WORLD, rank * 2 / size, 0, &half);
	MPI_Comm_rank(half, &r);
	MPI_Comm_size(half, &n);
	MPI_Comm_group(half, &all);
	MPI_Group_incl(all, 1, &first, &g);
	MPI_Comm_create(half, g, &c);
	CHECK((c != MPI_COMM_NULL) == (r == 0), "create in a half");
	if (c != MPI_COMM_NULL)
		MPI_Comm_free(&c);
	if (r == 0) {
		MPI_Comm_create_group(half, g, 5, &c);
		MPI_Barrier(c);
		MPI_Comm_free(&c);
	}
	MPI_Group_free(&g);
	MPI_Group_free(&all);
	MPI_Comm_split(half, r, 0, &c);
	MPI_Comm_size(c, &n);
	CHECK_INT(n, 1);
	MPI_Comm_free(&c);
	MPI_Comm_split_type(WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
	CHECK((c == MPI_COMM_NULL) == (rank == 0), "split_type with undefined");
	if (c != MPI_COMM_NULL) {
		MPI_Comm_rank(c, &r);
		MPI_Bcast(&r, 1, MPI_INT, 0, c);
		CHECK_INT(r, 0);
		MPI_Comm_free(&c);
	}
	MPI_Comm_free(&half);
}

/* The first rank has a large message under way to the last one while it waits in a collective call of the lower half;
 * the second rank comes there only when the last has that message. */
static void progress(int how)
{
	enum { N = 1 << 20 };
	static char big[N];
	MPI_Comm half, c;
	MPI_Request q;
	int last = size - 1, token = 0, in_half = rank < 2;
	MPI_Comm_split(WORLD, in_half, rank, &half);
	if (rank == 0)
		MPI_Isend(big, N, MPI_CHAR, last, 3, WORLD, &q);
	if (rank == last) {
		MPI_Recv(big, N, MPI_CHAR, 0, 3, WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&token, 1, MPI_INT, 1, 4, WORLD);
	}
	if (rank == 1)
		MPI_Recv(&token, 1, MPI_INT, last, 4, WORLD, MPI_STATUS_IGNORE);
	if (in_half) {
		MPI_Group g;
		MPI_Comm_group(half, &g);
		switch (how) {
		case 0:
			MPI_Barrier(half);
			break;
		case 1:
			MPI_Comm_split(half, 0, 0, &c);
			break;
		case 2:
			MPI_Comm_dup(half, &c);
			break;
		case 3:
			MPI_Comm_create(half, g, &c);
			break;
		case 4:
			MPI_Comm_create_group(half, g, 1, &c);
			break;
		case 5:
			MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, half);
			break;
		case 6:
			MPI_Comm_split_type(half, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c);
			break;
		}
		if (how != 0 && how != 5)
			MPI_Comm_free(&c);
		MPI_Group_free(&g);
	}
	if (rank == 0)
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	MPI_Comm_free(&half);
}

static void wrong(const char *what, int rc)
{
	int class = -1;
	MPI_Error_class(rc, &class);
	printf("rank %d: %s: class %s\n", rank, what,
		class == MPI_SUCCESS	 ? "success"
		: class == MPI_ERR_ARG	 ? "arg"
		: class == MPI_ERR_GROUP ? "group"
		: class == MPI_ERR_COMM	 ? "comm"
		: class == MPI_ERR_TAG	 ? "tag"
					 : "other");
}

static void errors_of_arguments(void)
{
	MPI_Comm c, half, lower;
	MPI_Group g;
	MPI_Comm_split(WORLD, rank % 2, rank, &half);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
	MPI_Comm_group(WORLD, &g);
	wrong("create_group with a negative tag", MPI_Comm_create_group(WORLD, g, -1, &c));
	wrong("create of a larger group", MPI_Comm_create(half, g, &c));
	MPI_Comm_split(WORLD, rank / 2, rank, &lower);
	MPI_Comm_set_errhandler(lower, MPI_ERRORS_RETURN);
	wrong("create of a larger group in a half", MPI_Comm_create(lower, g, &c));
	MPI_Comm_free(&lower);
	wrong("create of no group", MPI_Comm_create(WORLD, MPI_GROUP_NULL, &c));
	wrong("dup of no communicator", MPI_Comm_dup(MPI_COMM_NULL, &c));
	MPI_Group_free(&g);
	MPI_Comm_free(&half);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm reversed;
	subsets(WORLD);
	MPI_Comm_split(WORLD, 0, 0, &reversed);
	subsets(reversed);
	MPI_Comm_free(&reversed);
	duplicates();
	small_parents();
	for (int how = 0; how < 7; how++)
		progress(how);
	errors_of_arguments();
	return end();
}
