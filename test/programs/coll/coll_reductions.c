/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions and scans: predefined operations, MINLOC and MAXLOC, operations of the user that commute or not, derived
 * datatypes, MPI_IN_PLACE, every root, short and long vectors.
 * twin: timeout=60 */
#include "coll_comms.h"

#define MAXN 16
#define LONG 40000

/* Affine maps x -> a x + b modulo a prime; composition does not commute. */
struct affine {
	long a, b;
};
#define PRIME 1000003

static struct affine compose(struct affine f, struct affine g)
{
	return (struct affine){f.a * g.a % PRIME, (g.a * f.b + g.b) % PRIME};
}

static void affine_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
	struct affine *x = in, *y = inout;
	int bytes;
	MPI_Type_size(*type, &bytes); /* user functions may ask */
	for (int i = 0; i < *n; i++)
		y[i] = compose(x[i], y[i]);
}

/* On ints with a gap after each. */
static void gap_max(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *x = in, *y = inout;
	(void)type;
	for (int i = 0; i < *n; i++)
		y[2 * i] = x[2 * i] > y[2 * i] ? x[2 * i] : y[2 * i];
}

static struct affine element(int r, int i)
{
	return (struct affine){r * 31 + i * 7 + 2, r * 17 + i + 1};
}

static struct affine expected(int first, int last, int i)
{
	struct affine f = element(first, i);
	for (int r = first + 1; r <= last; r++)
		f = compose(f, element(r, i));
	return f;
}

static void sums(int n)
{
	static long mine[LONG * 2], result[LONG * 2];
	for (int root = -1; root < np; root++) { /* -1: Allreduce */
		for (int in_place = 0; in_place < 2; in_place++) {
			if (n == LONG && root > 0)
				continue;
			for (int i = 0; i < n; i++) {
				mine[i] = result[i] = me * 3 + i;
				if (me != root && root >= 0)
					result[i] = -1;
			}
			const void *s = in_place && (root < 0 || me == root) ? MPI_IN_PLACE : (void *)mine;
			if (root < 0)
				MPI_Allreduce(s, result, n, MPI_LONG, MPI_SUM, comm);
			else
				MPI_Reduce(s, result, n, MPI_LONG, MPI_SUM, root, comm);
			for (int i = 0; i < n; i++)
				CHECK_INT(result[i],
					root < 0 || me == root ? 3L * np * (np - 1) / 2 + (long)i * np : -1);
		}
	}
}

static void predefined(void)
{
	int x[5], y[5];
	const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
	for (unsigned o = 0; o < sizeof ops / sizeof *ops; o++) {
		for (int i = 0; i < 5; i++)
			x[i] = (me * 5 + i * 3 + 1) % 7;
		MPI_Allreduce(x, y, 5, MPI_INT, ops[o], comm);
		if (me == 0)
			printf("rank %d: op %u: %d %d %d %d %d\n", rank, o, y[0], y[1], y[2], y[3], y[4]);
	}
	struct {
		double v;
		int i;
	} a[2] = {{(me * 3) % 4, me}, {-me, me}}, b[2];
	memset(b, 0, sizeof b);
	MPI_Allreduce(a, b, 2, MPI_DOUBLE_INT, MPI_MINLOC, comm);
	CHECK_INT(b[1].i, np - 1);
	CHECK_INT(b[0].i, 0);
	MPI_Reduce(a, b, 2, MPI_DOUBLE_INT, MPI_MAXLOC, np - 1, comm);
	if (me == np - 1)
		CHECK_INT(b[1].i, 0);
	MPI_Scan(a, b, 2, MPI_DOUBLE_INT, MPI_MINLOC, comm);
	CHECK_INT(b[1].i, me);
	double d = 1.0 / (1 << me), e;
	MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_SUM, comm);
	CHECK(e == 2.0 - 1.0 / (1 << (np - 1)), "sum of powers is %g", e);
}

static void ordered(MPI_Datatype type, MPI_Op op, int n)
{
	static struct affine x[LONG], y[LONG];
	struct affine w;
	for (int i = 0; i < n; i++)
		x[i] = element(me, i);
	MPI_Allreduce(x, y, n, type, op, comm);
	for (int i = 0; i < n; i++) {
		w = expected(0, np - 1, i);
		CHECK(y[i].a == w.a && y[i].b == w.b, "allreduce in order, element %d", i);
	}
	for (int root = 0; root < np; root++) {
		memset(y, 0, sizeof(struct affine) * (size_t)n);
		MPI_Reduce(x, y, n, type, op, root, comm);
		for (int i = 0; i < n && me == root; i++) {
			w = expected(0, np - 1, i);
			CHECK(y[i].a == w.a && y[i].b == w.b, "reduce in order to %d, element %d", root, i);
		}
	}
	for (int in_place = 0; in_place < 2; in_place++) {
		memcpy(y, x, sizeof(struct affine) * (size_t)n);
		MPI_Scan(in_place ? MPI_IN_PLACE : (void *)x, y, n, type, op, comm);
		for (int i = 0; i < n; i++) {
			w = expected(0, me, i);
			CHECK(y[i].a == w.a && y[i].b == w.b, "scan in order, element %d", i);
		}
		memcpy(y, x, sizeof(struct affine) * (size_t)n);
		MPI_Exscan(in_place ? MPI_IN_PLACE : (void *)x, y, n, type, op, comm);
		for (int i = 0; i < n && me > 0; i++) {
			w = expected(0, me - 1, i);
			CHECK(y[i].a == w.a && y[i].b == w.b, "exscan in order, element %d", i);
		}
	}
}

static void scatters(MPI_Datatype type, MPI_Op op)
{
	struct affine x[MAXN * MAXN], y[MAXN * MAXN], w;
	int counts[MAXN], total = 0, mine = 0;
	for (int r = 0; r < np; r++) {
		counts[r] = (r * 2 + 1) % 4;
		if (r == me)
			mine = total;
		total += counts[r];
	}
	for (int in_place = 0; in_place < 2; in_place++) {
		for (int i = 0; i < total; i++)
			x[i] = y[i] = element(me, i);
		MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : (void *)x, y, counts, type, op, comm);
		for (int i = 0; i < counts[me]; i++) {
			w = expected(0, np - 1, mine + i);
			CHECK(y[i].a == w.a && y[i].b == w.b, "reduce_scatter, element %d", i);
		}
		for (int i = 0; i < 3 * np; i++)
			x[i] = y[i] = element(me, i);
		MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : (void *)x, y, 3, type, op, comm);
		for (int i = 0; i < 3; i++) {
			w = expected(0, np - 1, me * 3 + i);
			CHECK(y[i].a == w.a && y[i].b == w.b, "reduce_scatter_block, element %d", i);
		}
		int one[MAXN], sum[MAXN];
		for (int r = 0; r < np; r++)
			one[r] = sum[r] = me + r;
		MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : (void *)one, sum, 1, MPI_INT, MPI_SUM, comm);
		CHECK_INT(sum[0], np * (np - 1) / 2 + np * me);
	}
}

static void gaps(void)
{
	int x[20], y[20];
	MPI_Datatype t;
	MPI_Op op;
	MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &t);
	MPI_Type_commit(&t);
	MPI_Op_create(gap_max, 1, &op);
	for (int i = 0; i < 20; i++) {
		x[i] = i % 2 ? 5555 : (me * 7 + i) % 10;
		y[i] = 4444;
	}
	MPI_Allreduce(x, y, 10, t, op, comm);
	for (int i = 0; i < 20; i += 2) {
		int max = 0;
		for (int r = 0; r < np; r++)
			max = (r * 7 + i) % 10 > max ? (r * 7 + i) % 10 : max;
		CHECK_INT(y[i], max);
		CHECK_INT(y[i + 1], 4444);
	}
	MPI_Op_free(&op);
	MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
	MPI_Datatype type;
	MPI_Op op;
	begin(&argc, &argv);
	make_comms();
	MPI_Type_contiguous(2, MPI_LONG, &type);
	MPI_Type_commit(&type);
	MPI_Op_create(affine_op, 0, &op);
	for (int i = 0; i < COMMS; i++) {
		if (!use_comm(i))
			continue;
		int before = errors;
		sums(0);
		sums(1);
		sums(100);
		sums(LONG);
		predefined();
		ordered(type, op, 0);
		ordered(type, op, 1);
		ordered(type, op, 20);
		if (i < 3)
			ordered(type, op, 20000);
		scatters(type, op);
		gaps();
		printf("rank %d: %s: %d of %d, %d errors\n", rank, comm_names[i], me, np, errors - before);
	}
	MPI_Op_free(&op);
	MPI_Type_free(&type);
	free_comms();
	return end();
}
