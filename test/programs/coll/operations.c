/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions: all predefined operations, pairs, user operations, and non-commutative ones in rank order. */
#include "../check.h"

/* 2x2 matrices modulo a prime do not commute. */
struct matrix {
	int a[4];
};
static void multiply(void *in, void *inout, int *len, MPI_Datatype *t)
{
	const struct matrix *x = in;
	struct matrix *y = inout;
	(void)t;
	for (int i = 0; i < *len; i++) {
		struct matrix z;
		for (int k = 0; k < 4; k++)
			z.a[k] = (int)(((long)x[i].a[k & 2] * y[i].a[k & 1] +
					       (long)x[i].a[(k & 2) + 1] * y[i].a[(k & 1) + 2]) %
				       10007);
		y[i] = z;
	}
}
/* Keeps the left one where it is set: non-commutative, and shows the order. */
static void join(void *in, void *inout, int *len, MPI_Datatype *t)
{
	(void)t;
	for (int i = 0; i < *len; i++) {
		const char *x = (char *)in + i * 32;
		char *y = (char *)inout + i * 32, z[64];
		snprintf(z, sizeof z, "%s%s", x, y);
		memcpy(y, z, 31);
		y[31] = 0;
	}
}
static int calls;
static void sum_twice(void *in, void *inout, int *len, MPI_Datatype *t)
{
	int n;
	(void)t;
	MPI_Comm_size(WORLD, &n); /* an operation may not communicate, but may ask */
	calls += n == size;
	for (int i = 0; i < *len; i++)
		((double *)inout)[i] += ((double *)in)[i];
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
	static const char *const names[] = {"sum", "prod", "max", "min", "band", "bor", "bxor", "land", "lor", "lxor"};
	int in[7], out[7];
	for (int o = 0; o < 10; o++) {
		for (int i = 0; i < 7; i++)
			in[i] = (rank * 7 + i * 3 + 1) % 5;
		MPI_Allreduce(in, out, 7, MPI_INT, ops[o], WORLD);
		printf("rank %d: %s %d %d %d %d %d %d %d\n", rank, names[o], out[0], out[1], out[2], out[3], out[4],
			out[5], out[6]);
		MPI_Scan(in, out, 7, MPI_INT, ops[o], WORLD);
		printf("rank %d: scan %s %d %d %d\n", rank, names[o], out[0], out[1], out[6]);
	}
	struct {
		double v;
		int at;
	} di[2] = {{(rank * 5) % 3, rank}, {rank / 2, rank}}, dj[2];
	struct {
		int v, at;
	} ii = {-(rank % 2), rank}, ij;
	MPI_Allreduce(di, dj, 2, MPI_DOUBLE_INT, MPI_MAXLOC, WORLD);
	MPI_Allreduce(&ii, &ij, 1, MPI_2INT, MPI_MINLOC, WORLD);
	printf("rank %d: maxloc %g %d, %g %d, minloc %d %d\n", rank, dj[0].v, dj[0].at, dj[1].v, dj[1].at, ij.v, ij.at);
	long double l = rank + 0.5L, m;
	MPI_Allreduce(&l, &m, 1, MPI_LONG_DOUBLE, MPI_SUM, WORLD);
	double _Complex z = rank + 2.0 * 1.0i, w;
	MPI_Allreduce(&z, &w, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, WORLD);
	printf("rank %d: long double %Lg, complex %g %g\n", rank, m, __real__ w, __imag__ w);

	MPI_Datatype mt, text, wide;
	MPI_Op mul, cat, twice;
	MPI_Type_contiguous(4, MPI_INT, &mt), MPI_Type_commit(&mt);
	MPI_Type_contiguous(32, MPI_CHAR, &text), MPI_Type_commit(&text);
	MPI_Op_create(multiply, 0, &mul);
	MPI_Op_create(join, 0, &cat);
	MPI_Op_create(sum_twice, 1, &twice);
	int commutes;
	MPI_Op_commutative(mul, &commutes);
	CHECK_INT(commutes, 0);

	MPI_Comm back;
	MPI_Comm_split(WORLD, 0, (rank * 3 + 1) % size, &back); /* the parts' ranks are mixed */
	MPI_Comm comms[2] = {WORLD, back};
	for (int which = 0; which < 2; which++) {
		MPI_Comm c = comms[which];
		int r, n;
		MPI_Comm_rank(c, &r), MPI_Comm_size(c, &n);
		for (int len = 1; len <= 1001; len += 250) {
			struct matrix *x = malloc(len * sizeof *x), *y = malloc(len * sizeof *y),
				      *all = malloc(n * len * sizeof *x);
			for (int i = 0; i < len; i++)
				for (int k = 0; k < 4; k++)
					x[i].a[k] = (r * 31 + i * 7 + k * k + 3) % 101;
			MPI_Allreduce(x, y, len, mt, mul, c);
			/* by hand */
			MPI_Allgather(x, len, mt, all, len, mt, c);
			for (int p = n - 2; p >= 0; p--)
				multiply(all + p * len, all + (n - 1) * len, &len, &mt);
			CHECK(!memcmp(y, all + (n - 1) * len, len * sizeof *y), "product of %d matrices", len);
			printf("rank %d: communicator %d, %d matrices %08x\n", rank, which, len,
				digest(y, len * sizeof *y));
			for (int root = 0; root < n; root++) {
				memset(y, 0, len * sizeof *y);
				MPI_Reduce(x, y, len, mt, mul, root, c);
				if (r == root)
					CHECK(!memcmp(y, all + (n - 1) * len, len * sizeof *y), "Reduce to %d", root);
			}
			MPI_Scan(x, y, len, mt, mul, c);
			printf("rank %d: scan %08x\n", rank, digest(y, len * sizeof *y));
			if (r == n - 1)
				CHECK(!memcmp(y, all + (n - 1) * len, len * sizeof *y), "last of Scan");
			memset(y, 0, len * sizeof *y);
			MPI_Exscan(x, y, len, mt, mul, c);
			if (r)
				printf("rank %d: exscan %08x\n", rank, digest(y, len * sizeof *y));
			free(x), free(y), free(all);
		}
		char a[64][32] = {{0}}, b[64][32] = {{0}};
		for (int p = 0; p < n; p++)
			sprintf(a[p], "%d", r);
		MPI_Reduce_scatter_block(a, b, 1, text, cat, c);
		printf("rank %d: joined %s\n", rank, b[0]);
		MPI_Allreduce(a, b, 1, text, cat, c);
		printf("rank %d: joined %s\n", rank, b[0]);
		MPI_Exscan(a, b, 1, text, cat, c);
		if (r)
			printf("rank %d: joined %s\n", rank, b[0]);
	}
	MPI_Comm_free(&back);

	/* a user operation on a type with gaps: every second double */
	double x[10], y[10];
	MPI_Type_create_resized(MPI_DOUBLE, 0, 8, &wide), MPI_Type_commit(&wide);
	for (int i = 0; i < 10; i++)
		x[i] = rank + i, y[i] = -1;
	MPI_Allreduce(x, y, 10, wide, twice, WORLD);
	for (int i = 0; i < 10; i++)
		CHECK(y[i] == size * (size - 1) / 2 + size * i, "%g", y[i]);
	MPI_Reduce_local(x, y, 10, MPI_DOUBLE, MPI_SUM);
	CHECK(y[0] == size * (size - 1) / 2 + rank, "Reduce_local");
	MPI_Type_free(&mt), MPI_Type_free(&text), MPI_Type_free(&wide);
	MPI_Op_free(&mul), MPI_Op_free(&cat), MPI_Op_free(&twice);
	return end();
}
