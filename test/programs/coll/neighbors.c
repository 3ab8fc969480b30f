/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives in all forms, on grids with borders, with ranks that are each other's neighbour twice, on
 * graphs, with ranks that have no neighbours. twin: ranks=4 tcp=yes one_sided=yes external32=yes
 */
#include "../check.h"

#define NEAR 32
#define BIG 20000 /* ints: more than is sent at once */

static MPI_Comm comm;
static int in, out, from[NEAR], to[NEAR];
static int directed; /* ranks may have other numbers of neighbours to send to than to receive from */

/* The n ints that edge number k of rank r carries. */
static int value(int r, int k, int i)
{
	return r * 1000003 + k * 10007 + i * 3 + 1;
}

static void prepare(int *buf, int edges, int n)
{
	for (int k = 0; k < edges; k++)
		for (int i = 0; i < n; i++)
			buf[k * n + i] = value(rank, k, i);
}

static void tell(const char *what, const char *how, const int *got, size_t n)
{
	uint32_t h = 0;
	for (size_t i = 0; i < n; i++)
		h = h * 31 + (uint32_t)got[i];
	printf("rank %d: %s: %s: %08x\n", rank, what, how, h);
}

static void clear(int *got, size_t n)
{
	for (size_t i = 0; i < n; i++)
		got[i] = -1;
}

#define UNWRAP(...) __VA_ARGS__
#define FORMS(how, Name, ARGS)                                                                                         \
	do {                                                                                                           \
		MPI_Request r;                                                                                         \
		clear(got, total);                                                                                     \
		MPI_Neighbor_##Name(UNWRAP ARGS);                                                                      \
		tell(what, how, got, total);                                                                           \
		clear(got, total);                                                                                     \
		MPI_Ineighbor_##Name(UNWRAP ARGS, &r);                                                                 \
		MPI_Wait(&r, MPI_STATUS_IGNORE);                                                                       \
		tell(what, how ", nonblocking", got, total);                                                           \
		MPI_Neighbor_##Name##_init(UNWRAP ARGS, MPI_INFO_NULL, &r);                                            \
		for (int turn = 0; turn < 2; turn++) {                                                                 \
			clear(got, total);                                                                             \
			MPI_Start(&r);                                                                                 \
			MPI_Wait(&r, MPI_STATUS_IGNORE);                                                               \
			tell(what, how ", persistent", got, total);                                                    \
		}                                                                                                      \
		MPI_Request_free(&r);                                                                                  \
	} while (0)

static void exchange(const char *what, int n)
{
	size_t total = (size_t)(in + 1) * (size_t)n * 2;
	int *sent = malloc((size_t)(out + 1) * (size_t)n * sizeof *sent), *got = malloc(total * sizeof *got);
	int counts_in[NEAR], counts_out[NEAR], places_in[NEAR], places_out[NEAR];
	MPI_Aint bytes_in[NEAR], bytes_out[NEAR];
	MPI_Datatype types_in[NEAR], types_out[NEAR], pair;
	prepare(sent, out + 1, n);
	for (int k = 0; k < NEAR; k++) {
		places_in[k] = (in - 1 - k) * n; /* the other way round */
		places_out[k] = k * n;
		bytes_in[k] = places_in[k] * (MPI_Aint)sizeof(int);
		bytes_out[k] = places_out[k] * (MPI_Aint)sizeof(int);
		counts_in[k] = counts_out[k] = n;
		types_in[k] = types_out[k] = MPI_INT;
	}
	FORMS("allgather", allgather, (sent, n, MPI_INT, got, n, MPI_INT, comm));
	FORMS("allgatherv", allgatherv, (sent, n, MPI_INT, got, counts_in, places_in, MPI_INT, comm));
	FORMS("alltoall", alltoall, (sent, n, MPI_INT, got, n, MPI_INT, comm));
	FORMS("alltoallv", alltoallv,
		(sent, counts_out, places_out, MPI_INT, got, counts_in, places_in, MPI_INT, comm));
	if (!directed) /* MPICH 4.0.2 gives anything otherwise; see topo_rules.c */
		FORMS("alltoallw", alltoallw,
			(sent, counts_out, bytes_out, types_out, got, counts_in, bytes_in, types_in, comm));

	/* with gaps, in pairs, and of a type that is freed while it is used */
	if (n % 2 == 0) {
		MPI_Request r = MPI_REQUEST_NULL;
		MPI_Type_vector(n / 2, 1, 2, MPI_INT, &pair);
		MPI_Type_commit(&pair);
		clear(got, total);
		MPI_Neighbor_alltoall(sent, n / 2, MPI_2INT, got, n / 2, MPI_2INT, comm);
		tell(what, "alltoall in pairs", got, total);
		for (int k = 0; k < NEAR; k++) {
			counts_in[k] = 1;
			counts_out[k] = n / 2;
			types_in[k] = pair;
			bytes_in[k] = k * n * (MPI_Aint)sizeof(int);
		}
		clear(got, total);
		if (!directed)
			MPI_Ineighbor_alltoallw(sent, counts_out, bytes_out, types_out, got, counts_in, bytes_in,
				types_in, comm, &r);
		MPI_Type_free(&pair);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		tell(what, "alltoallw with gaps", got, total);
	}
	free(sent);
	free(got);
}

/* From rank r to rank s: some edges have nothing. */
static int between(int r, int s)
{
	return (r + s) % 3 == 1 ? 0 : r + 2 * s;
}

static void uneven(const char *what)
{
	int me, sent[NEAR * 50], got[NEAR * 50], counts_in[NEAR], counts_out[NEAR], places_in[NEAR], places_out[NEAR];
	MPI_Comm_rank(comm, &me);
	for (int k = 0; k < NEAR * 50; k++)
		sent[k] = value(rank, 7, k);
	clear(got, NEAR * 50);
	for (int k = 0; k < out; k++) {
		counts_out[k] = to[k] == MPI_PROC_NULL ? 5 : between(me, to[k]);
		places_out[k] = 50 * k;
	}
	for (int l = 0; l < in; l++) {
		counts_in[l] = from[l] == MPI_PROC_NULL ? 3 : between(from[l], me);
		places_in[l] = 50 * l;
	}
	MPI_Neighbor_alltoallv(sent, counts_out, places_out, MPI_INT, got, counts_in, places_in, MPI_INT, comm);
	tell(what, "uneven", got, NEAR * 50);
}

static void all(const char *what)
{
	MPI_Comm other;
	exchange(what, 1);
	exchange(what, 6);
	exchange(what, 1001);
	uneven(what);
	MPI_Comm_dup(comm, &other);
	MPI_Comm_free(&comm);
	comm = other;
	exchange(what, BIG);
	MPI_Comm_free(&comm);
}

static void grid(const char *what, int ndims, const int *dims, const int *periods)
{
	MPI_Cart_create(WORLD, ndims, dims, periods, 0, &comm);
	if (comm == MPI_COMM_NULL)
		return;
	in = out = 2 * ndims;
	for (int d = 0; d < ndims; d++)
		MPI_Cart_shift(comm, d, 1, &from[2 * d], &from[2 * d + 1]);
	memcpy(to, from, sizeof to);
	all(what);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	const int square[] = {2, 2}, line[] = {4, 1}, open[] = {0, 0}, closed[] = {1, 1}, half[] = {1, 0},
		  three[] = {3};
	const int index[] = {3, 4, 6, 8}, edges[] = {1, 2, 3, 0, 0, 3, 0, 2};
	grid("2x2", 2, square, open);
	grid("2x2 periodic", 2, square, closed);
	grid("4x1 periodic", 2, line, closed);
	grid("4x1 half", 2, line, half);
	grid("ring of three", 1, three, closed);

	MPI_Graph_create(WORLD, 4, index, edges, 0, &comm);
	in = out = index[rank] - (rank ? index[rank - 1] : 0);
	memcpy(from, edges + index[rank] - in, (size_t)in * sizeof(int));
	memcpy(to, from, sizeof to);
	all("graph");

	/* each to the next two, the first one to nobody, the last one from nobody */
	in = out = 0;
	for (int k = 1; k <= 2; k++) {
		if (rank > 0 && (rank + k) % size != size - 1)
			to[out++] = (rank + k) % size;
		if (rank < size - 1 && (rank + size - k) % size != 0)
			from[in++] = (rank + size - k) % size;
	}
	MPI_Dist_graph_create_adjacent(WORLD, in, from, MPI_UNWEIGHTED, out, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
		&comm);
	directed = 1;
	all("directed");
	directed = 0;

	/* every rank several times, also the rank itself */
	in = out = 0;
	for (int r = 0; r < 2 * size; r++)
		from[in++] = to[out++] = r % size;
	MPI_Dist_graph_create_adjacent(WORLD, in, from, MPI_UNWEIGHTED, out, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
		&comm);
	all("everybody twice");
	return end();
}
