/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans of long and short vectors, in all forms: an operation that does not commute, sums that round, a datatype with
 * gaps, MPI_IN_PLACE. With an argument the checksums of the sums are printed, which depend on the placement.
 * twin: timeout=60 external32=yes */
#include "coll_comms.h"

#define LONG 40001
#define GAP (-7)

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static const int counts[] = {0, 1, 2, 3, 63, 1001, LONG};

#define DO(Name, Iname, form, restore, ...)                                                                            \
	do {                                                                                                           \
		MPI_Request q_;                                                                                        \
		if ((form) == BLOCKING) {                                                                              \
			MPI_##Name(__VA_ARGS__, comm);                                                                 \
		} else if ((form) == NONBLOCKING) {                                                                    \
			MPI_##Iname(__VA_ARGS__, comm, &q_);                                                           \
			MPI_Wait(&q_, MPI_STATUS_IGNORE);                                                              \
		} else {                                                                                               \
			MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &q_);                                      \
			for (int i_ = 0; i_ < 2; i_++) {                                                               \
				restore;                                                                               \
				MPI_Start(&q_);                                                                        \
				MPI_Wait(&q_, MPI_STATUS_IGNORE);                                                      \
			}                                                                                              \
			MPI_Request_free(&q_);                                                                         \
		}                                                                                                      \
	} while (0)

/* Maps x -> a x + b, one after the other, on unsigned ints with a gap between the two and one behind them. */
struct map {
	unsigned a;
	int gap;
	unsigned b;
	int behind;
};
static struct map mine[LONG], prefix[LONG];

static struct map composed(struct map f, struct map g)
{
	return (struct map){g.a * f.a, GAP, g.a * f.b + g.b, GAP};
}
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
	struct map *x = in, *y = inout;
	(void)type;
	for (int i = 0; i < *n; i++) {
		struct map z = composed(x[i], y[i]);
		y[i].a = z.a, y[i].b = z.b;
	}
}
static struct map map_of(int r, int i)
{
	return (struct map){(unsigned)(r * 2 + 3 + i % 5 * 2), GAP, (unsigned)(r * 17 + i * 3), GAP};
}
static void put_maps(struct map *at, int n)
{
	for (int i = 0; i < n; i++)
		at[i] = map_of(me, i);
}
/* Of ranks 0 to last; the gaps of the receive buffer are the caller's. */
static void check_maps(const char *what, int form, int n, int last)
{
	for (int i = 0; i < n; i++) {
		struct map m = map_of(0, i);
		for (int r = 1; r <= last; r++)
			m = composed(m, map_of(r, i));
		if (prefix[i].a != m.a || prefix[i].b != m.b || prefix[i].gap != GAP || prefix[i].behind != GAP) {
			CHECK(0, "%s, form %d, %d elements: element %d", what, form, n, i);
			return;
		}
	}
}

static void maps(int form, int n, MPI_Datatype type, MPI_Op op)
{
	put_maps(mine, n);
	for (int in_place = 0; in_place < 2; in_place++) {
		const void *from = in_place ? MPI_IN_PLACE : (void *)mine;
		put_maps(prefix, n);
		DO(Scan, Iscan, form, put_maps(prefix, n), from, prefix, n, type, op);
		check_maps(in_place ? "scan in place" : "scan", form, n, me);
		put_maps(prefix, n);
		DO(Exscan, Iexscan, form, put_maps(prefix, n), from, prefix, n, type, op);
		if (me > 0)
			check_maps(in_place ? "exscan in place" : "exscan", form, n, me - 1);
	}
}

static double numbers[LONG], result[LONG], again[LONG];

static unsigned long checksum(const double *x, int n)
{
	const unsigned char *p = (const unsigned char *)x;
	unsigned long hash = 14695981039346656037ul;
	for (size_t i = 0; i < (size_t)n * sizeof *x; i++)
		hash = (hash ^ p[i]) * 1099511628211ul;
	return hash;
}

/* Large and small numbers of both signs: every order of adding them rounds differently. */
static void sums(int n, int print)
{
	for (int i = 0; i < n; i++)
		numbers[i] = ((i * 7 + me * 13) % 11 - 5) * (me % 2 ? 1e15 : 0.1) / (1 + (i + me) % 7);
	memset(result, 0, sizeof result);
	memset(again, 0, sizeof again);
	MPI_Scan(numbers, result, n, MPI_DOUBLE, MPI_SUM, comm);
	MPI_Scan(numbers, again, n, MPI_DOUBLE, MPI_SUM, comm);
	CHECK(checksum(result, n) == checksum(again, n), "scan of %d: other bits the second time", n);
	if (print)
		printf("%d: %d of %d: %016lx\n", n, me, np, checksum(result, n));
	MPI_Exscan(numbers, result, n, MPI_DOUBLE, MPI_SUM, comm);
	memcpy(again, numbers, sizeof again);
	MPI_Exscan(MPI_IN_PLACE, again, n, MPI_DOUBLE, MPI_SUM, comm);
	if (me == 0)
		return;
	CHECK(checksum(result, n) == checksum(again, n), "exscan of %d: other bits in place", n);
	if (print)
		printf("%d: before %d of %d: %016lx\n", n, me, np, checksum(result, n));
}

int main(int argc, char **argv)
{
	MPI_Datatype pair, type;
	MPI_Op op;
	begin(&argc, &argv);
	make_comms();
	MPI_Type_vector(2, 1, 2, MPI_UNSIGNED, &pair);
	MPI_Type_create_resized(pair, 0, sizeof(struct map), &type);
	MPI_Type_commit(&type);
	MPI_Op_create(compose, 0, &op);
	for (int i = 0; i < COMMS; i++) {
		if (!use_comm(i))
			continue;
		for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {
			for (int form = 0; form < FORMS; form++)
				maps(form, counts[c], type, op);
			sums(counts[c], argc > 1 && i == 0);
		}
		printf("rank %d: %s: %d of %d done\n", rank, comm_names[i], me, np);
	}
	MPI_Op_free(&op);
	MPI_Type_free(&type);
	MPI_Type_free(&pair);
	free_comms();
	return end();
}
