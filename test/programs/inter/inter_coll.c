/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives between the groups of intercommunicators: every one, every root, with and without gaps in the datatype,
 * small and large, with an operation that does not commute. With FORMS (inter_icoll.c) most of it nonblocking and
 * persistent. twin: timeout=120 */
#include "inter_comms.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT };
static int form, n;	   /* of the variant being tried; elements */
static MPI_Datatype type;  /* of an element: one int, or two with gaps */
static int extent, fields; /* in ints */
#define OFFSET(k) ((k)*2)
static int salt;
#define ROOM 1000000
#define LONG 150001 /* these make several segments, as the table is built in; reductions and broadcasts alone */
static int out[ROOM], in[ROOM];

#define DO(Name, Iname, ...)                                                                                           \
	do {                                                                                                           \
		MPI_Request q_;                                                                                        \
		if (form == BLOCKING) {                                                                                \
			MPI_##Name(__VA_ARGS__, inter);                                                                \
		} else if (form == NONBLOCKING) {                                                                      \
			MPI_##Iname(__VA_ARGS__, inter, &q_);                                                          \
			MPI_Wait(&q_, MPI_STATUS_IGNORE);                                                              \
		} else {                                                                                               \
			MPI_##Name##_init(__VA_ARGS__, inter, MPI_INFO_NULL, &q_);                                     \
			for (int i_ = 0; i_ < 2; i_++) {                                                               \
				MPI_Start(&q_);                                                                        \
				MPI_Wait(&q_, MPI_STATUS_IGNORE);                                                      \
			}                                                                                              \
			MPI_Request_free(&q_);                                                                         \
		}                                                                                                      \
	} while (0)

static int value(int from, int to, int i)
{
	return (from * 1000003 + to * 10007 + i * 31 + salt * 7) & 0x3fffffff;
}

/* Elements at.. of a buffer: count, for one receiver (or all: -1). */
static void put(int *buf, int at, int count, int from, int to)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; k < fields; k++)
			buf[(at + i) * extent + OFFSET(k)] = value(from, to, i * fields + k);
}
static void check(const char *what, const int *buf, int at, int count, int from, int to)
{
	for (int i = 0; i < count; i++) {
		const int *e = buf + (at + i) * extent;
		for (int k = 0; k < fields; k++)
			if (e[OFFSET(k)] != value(from, to, i * fields + k)) {
				CHECK(0, "%s, form %d, %d elements, from %d: element %d", what, form, n, from, i);
				return;
			}
		CHECK(fields == 1 || (e[1] == -1 && e[3] == -1), "%s: a gap was written to", what);
	}
}
static void clear(int elements)
{
	salt++;
	for (int i = 0; i < elements * extent; i++)
		in[i] = -1;
}

/* The root argument where rank k of side s is the root. */
static int root_of(int s, int k)
{
	return side != s ? k : me == k ? MPI_ROOT : MPI_PROC_NULL;
}
static int roots_of(int s)
{
	return side == s ? np : nremote;
}
/* How many elements rank `from` has for rank `to`, where it varies: also none. */
static int some(int from, int to)
{
	return (from * 2 + to) % 4 == 0 ? 0 : n + (from + to) % 3;
}

static void try_bcast(int s, int k)
{
	int root = root_of(s, k), *buf = root == MPI_ROOT ? out : in;
	clear(n);
	if (root == MPI_ROOT)
		put(out, 0, n, rank, -1);
	/* of no significance where the root is another one of the same group */
	DO(Bcast, Ibcast, root == MPI_PROC_NULL ? NULL : buf, root == MPI_PROC_NULL ? 0 : n, type, root);
	if (root >= 0)
		check("bcast", in, 0, n, remote_world[k], -1);
}

static void try_gather(int s, int k)
{
	int root = root_of(s, k), counts[64], displs[64], at = 0;
	clear(n * nremote);
	put(out, 0, n, rank, -1);
	DO(Gather, Igather, out, n, type, in, n, type, root);
	for (int r = 0; r < nremote && root == MPI_ROOT; r++)
		check("gather", in, r * n, n, remote_world[r], -1);
	/* the slots in reverse order, with room between them */
	for (int r = nremote - 1; r >= 0; r--) {
		counts[r] = some(remote_world[r], 0);
		displs[r] = at + 1;
		at += counts[r] + 1;
	}
	clear(at + 1);
	put(out, 0, some(rank, 0), rank, -1);
	DO(Gatherv, Igatherv, out, some(rank, 0), type, in, counts, displs, type, root);
	for (int r = 0; r < nremote && root == MPI_ROOT; r++) {
		check("gatherv", in, displs[r], counts[r], remote_world[r], -1);
		CHECK_INT(in[(displs[r] - 1) * extent], -1);
	}
}

static void try_scatter(int s, int k)
{
	int root = root_of(s, k), counts[64], displs[64], at = 0;
	clear(n + 2);
	for (int r = 0; r < nremote; r++)
		put(out, r * n, n, rank, remote_world[r]);
	DO(Scatter, Iscatter, out, n, type, in, n, type, root);
	if (root >= 0)
		check("scatter", in, 0, n, remote_world[k], rank);
	clear(n + 2);
	for (int r = nremote - 1; r >= 0; r--) {
		counts[r] = some(0, remote_world[r]);
		displs[r] = at;
		at += counts[r] + 1;
		put(out, displs[r], counts[r], rank, remote_world[r]);
	}
	DO(Scatterv, Iscatterv, out, counts, displs, type, in, some(0, rank), type, root);
	if (root >= 0)
		check("scatterv", in, 0, some(0, rank), remote_world[k], rank);
}

static void try_allgather(void)
{
	int counts[64], displs[64], at = 0;
	clear(n * nremote);
	put(out, 0, n, rank, -1);
	DO(Allgather, Iallgather, out, n, type, in, n, type);
	for (int r = 0; r < nremote; r++)
		check("allgather", in, r * n, n, remote_world[r], -1);
	for (int r = nremote - 1; r >= 0; r--) {
		counts[r] = some(remote_world[r], 1);
		displs[r] = at + 1;
		at += counts[r] + 1;
	}
	clear(at + 1);
	put(out, 0, some(rank, 1), rank, -1);
	DO(Allgatherv, Iallgatherv, out, some(rank, 1), type, in, counts, displs, type);
	for (int r = 0; r < nremote; r++)
		check("allgatherv", in, displs[r], counts[r], remote_world[r], -1);
}

static void try_alltoall(void)
{
	int sc[64], sd[64], rc[64], rd[64], sbytes[64], rbytes[64], st = 0, rt = 0;
	MPI_Datatype types[64];
	clear(n * nremote);
	for (int r = 0; r < nremote; r++)
		put(out, r * n, n, rank, remote_world[r]);
	DO(Alltoall, Ialltoall, out, n, type, in, n, type);
	for (int r = 0; r < nremote; r++)
		check("alltoall", in, r * n, n, remote_world[r], rank);
	for (int r = nremote - 1; r >= 0; r--) {
		sc[r] = some(rank, remote_world[r]);
		rc[r] = some(remote_world[r], rank);
		sd[r] = st, rd[r] = rt + 1;
		st += sc[r] + 2, rt += rc[r] + 1;
		sbytes[r] = sd[r] * extent * (int)sizeof(int), rbytes[r] = rd[r] * extent * (int)sizeof(int);
		types[r] = type;
	}
	for (int w = 0; w < 2; w++) {
		clear(rt + 1);
		for (int r = 0; r < nremote; r++)
			put(out, sd[r], sc[r], rank, remote_world[r]);
		if (w)
			DO(Alltoallw, Ialltoallw, out, sc, sbytes, types, in, rc, rbytes, types);
		else
			DO(Alltoallv, Ialltoallv, out, sc, sd, type, in, rc, rd, type);
		for (int r = 0; r < nremote; r++)
			check(w ? "alltoallw" : "alltoallv", in, rd[r], rc[r], remote_world[r], rank);
	}
}

/* Maps x -> a x + b, one after the other: associative, and does not commute. Pairs of unsigned ints. */
static void compose(void *a, void *b, int *count, MPI_Datatype *t)
{
	unsigned *x = a, *y = b;
	(void)t;
	for (int i = 0; i < *count; i++) {
		unsigned p = y[2 * i] * x[2 * i], q = y[2 * i] * x[2 * i + 1] + y[2 * i + 1];
		y[2 * i] = p, y[2 * i + 1] = q;
	}
}
static MPI_Op composition;
static MPI_Datatype map_type;

static unsigned a_of(int r, int i)
{
	return (unsigned)(r * 2 + 3 + i % 5 * 2);
}
static unsigned b_of(int r, int i)
{
	return (unsigned)(r * 17 + i * 3 + salt);
}
static void put_maps(int count)
{
	for (int i = 0; i < count; i++)
		out[2 * i] = (int)a_of(rank, i), out[2 * i + 1] = (int)b_of(rank, i);
}
/* Elements first.. of what the remote group has contributed. */
static void check_maps(const char *what, int first, int count)
{
	for (int i = 0; i < count; i++) {
		unsigned a = 1, b = 0;
		for (int r = 0; r < nremote; r++) {
			unsigned p = a_of(remote_world[r], first + i), q = b_of(remote_world[r], first + i);
			a = p * a, b = p * b + q;
		}
		if ((unsigned)in[2 * i] != a || (unsigned)in[2 * i + 1] != b) {
			CHECK(0, "%s, form %d, %d elements: element %d", what, form, n, i);
			return;
		}
	}
}
static void put_sums(int count)
{
	for (int i = 0; i < count; i++)
		out[i] = (rank + 1) * (i + salt);
}
static void check_sums(const char *what, int first, int count)
{
	int ranks = 0;
	for (int r = 0; r < nremote; r++)
		ranks += remote_world[r] + 1;
	for (int i = 0; i < count; i++)
		if (in[i] != ranks * (first + i + salt)) {
			CHECK(0, "%s, form %d, %d elements: element %d is %d", what, form, n, i, in[i]);
			return;
		}
}

static void try_reduce(int s, int k)
{
	int root = root_of(s, k);
	clear(n);
	put_sums(n);
	DO(Reduce, Ireduce, out, root >= 0 ? MPI_IN_PLACE : in, n, MPI_INT, MPI_SUM, root); /* not looked at */
	if (root == MPI_ROOT)
		check_sums("reduce", 0, n);
	clear(2 * n);
	put_maps(n);
	DO(Reduce, Ireduce, out, in, n, map_type, composition, root);
	if (root == MPI_ROOT)
		check_maps("reduce with composition", 0, n);
}

static void try_allreduce(void)
{
	clear(n);
	put_sums(n);
	DO(Allreduce, Iallreduce, out, in, n, MPI_INT, MPI_SUM);
	check_sums("allreduce", 0, n);
	clear(2 * n);
	put_maps(n);
	DO(Allreduce, Iallreduce, out, in, n, map_type, composition);
	check_maps("allreduce with composition", 0, n);
}

/* Both groups have the same number of elements in all: some of them, and none for others. */
static void try_reduce_scatter(void)
{
	int total = np * nremote * n, counts[64], first = 0, left = total;
	for (int r = 0; r < np; r++) {
		counts[r] = r == np - 1 ? left : r % 2 ? 0 : nremote * n + 1 < left ? nremote * n + 1 : left;
		left -= counts[r];
		first += r < me ? counts[r] : 0;
	}
	clear(total);
	put_sums(total);
	DO(Reduce_scatter_block, Ireduce_scatter_block, out, in, nremote * n, MPI_INT, MPI_SUM);
	check_sums("reduce_scatter_block", me * nremote * n, nremote * n);
	clear(total);
	put_sums(total);
	DO(Reduce_scatter, Ireduce_scatter, out, in, counts, MPI_INT, MPI_SUM);
	check_sums("reduce_scatter", first, counts[me]);
	clear(2 * total);
	put_maps(total);
	DO(Reduce_scatter, Ireduce_scatter, out, in, counts, map_type, composition);
	check_maps("reduce_scatter with composition", first, counts[me]);
}

/* A rank that leaves has seen all messages that the other group sent before it entered. */
static void try_barrier(void)
{
	MPI_Request q;
	int flag;
	for (int r = 0; r < nremote; r++)
		MPI_Send(&rank, 1, MPI_INT, r, 11, inter);
	if (form == BLOCKING) {
		MPI_Barrier(inter);
	} else if (form == NONBLOCKING) {
		MPI_Ibarrier(inter, &q);
		for (flag = 0; !flag;)
			MPI_Test(&q, &flag, MPI_STATUS_IGNORE);
	} else {
		MPI_Barrier_init(inter, MPI_INFO_NULL, &q);
		MPI_Start(&q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		MPI_Request_free(&q);
	}
	for (int r = 0; r < nremote; r++) {
		int x;
		MPI_Recv(&x, 1, MPI_INT, r, 11, inter, MPI_STATUS_IGNORE);
		CHECK_INT(x, remote_world[r]);
	}
}

#ifdef FORMS
/* Several at a time, on a copy that is freed before they are complete; small datatypes and operations are too. */
static void try_many(void)
{
	MPI_Request q[4];
	MPI_Comm d;
	MPI_Datatype t;
	MPI_Op op;
	int x[64], y = rank + 1, z = -1, sum[2] = {0, 0}, maps[2] = {(int)a_of(rank, 0), (int)b_of(rank, 0)}, ranks = 0;
	MPI_Comm_dup(inter, &d);
	MPI_Type_contiguous(2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Op_create(compose, 0, &op);
	MPI_Iallgather(&rank, 1, MPI_INT, x, 1, MPI_INT, d, &q[0]);
	MPI_Iallreduce(maps, sum, 1, t, op, d, &q[1]);
	MPI_Ibcast(side ? &z : &y, 1, MPI_INT, side ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, d, &q[2]);
	MPI_Ibarrier(d, &q[3]);
	MPI_Type_free(&t);
	MPI_Op_free(&op);
	MPI_Comm_free(&d);
	MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
	for (int r = 0; r < nremote; r++) {
		CHECK_INT(x[r], remote_world[r]);
		ranks += remote_world[r] + 1;
	}
	memcpy(in, sum, sizeof sum);
	check_maps("four at a time", 0, 1);
	CHECK_INT(z, side ? remote_world[0] + 1 : -1);
}

/* All members hear that the remote leader does not exist; natively they wait for ever. */
static void try_wrong_leader(void)
{
	MPI_Comm d;
	int class;
	MPI_Comm_set_errhandler(inter_locals[0], MPI_ERRORS_RETURN);
	MPI_Error_class(MPI_Intercomm_create(inter_locals[0], 0, WORLD, size, 3, &d), &class);
	CHECK_INT(class, MPI_ERR_RANK);
}
#endif

static void try_all(void)
{
	for (int s = 0; s < 2; s++) {
		for (int k = 0; k < roots_of(s); k++) {
			if (n > 1000 && k > 0)
				continue; /* large: the first root of each */
			try_bcast(s, k);
			try_reduce(s, k);
			if (n == LONG)
				continue;
			try_gather(s, k);
			try_scatter(s, k);
		}
	}
	if (n == LONG) {
		try_allreduce();
		return;
	}
	try_allgather();
	try_alltoall();
	try_allreduce();
	try_reduce_scatter();
	try_barrier();
}

int main(int argc, char **argv)
{
	static const struct {
		int form, n, gaps, few; /* few: on some intercommunicators alone */
	} variants[] = {
#ifdef FORMS
		{NONBLOCKING, 3, 1, 0}, {NONBLOCKING, 2000, 1, 1}, {PERSISTENT, 20, 0, 1}, {BLOCKING, 40, 1, 1}
#else
		{BLOCKING, 1, 0, 0}, {BLOCKING, 40, 1, 0}, {BLOCKING, 9000, 0, 1}, {BLOCKING, 0, 0, 1},
		{BLOCKING, LONG, 1, 1}
#endif
	};
	MPI_Datatype pair, gaps;
	begin(&argc, &argv);
	MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
	MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &gaps);
	MPI_Type_commit(&gaps);
	MPI_Type_contiguous(2, MPI_INT, &map_type);
	MPI_Type_commit(&map_type);
	MPI_Op_create(compose, 0, &composition);
	make_inters();
	for (int i = 0; i < INTERS; i++) {
		if (!use_inter(i))
			continue;
		salt = i; /* members of an intercommunicator have the same calls behind them */
		for (unsigned v = 0; v < sizeof variants / sizeof *variants; v++) {
			if (variants[v].few && i % 5)
				continue;
			form = variants[v].form, n = variants[v].n;
			type = variants[v].gaps ? gaps : MPI_INT;
			extent = variants[v].gaps ? 4 : 1, fields = variants[v].gaps ? 2 : 1;
			try_all();
		}
#ifdef FORMS
		try_many();
#endif
		printf("rank %d: %s: done, %d and %d\n", rank, inter_names[i], np, nremote);
	}
#ifdef FORMS
	try_wrong_leader();
#endif
	free_inters();
	MPI_Op_free(&composition);
	MPI_Type_free(&map_type);
	MPI_Type_free(&gaps);
	MPI_Type_free(&pair);
	return end();
}
