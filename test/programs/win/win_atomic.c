/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations on windows, from all ranks at once: every predefined operation and many datatypes, what is fetched,
 * compare and swap, the order of one origin's, large ones, with gaps.
 * twin: one_sided=yes external32=yes
 */
#include <complex.h>

#include "../check.h"

#define ELEMENTS 12
#define BYTES (1 << 16)
static char *memory;
static MPI_Win win;

/* --- datatypes --- */

/* FORTRAN: integers without logical operations, which MPICH 5 refuses for them (MPI-4.1, 6.9.2). */
enum { INTEGER = 1, FLOATING = 2, COMPLEX = 4, LOGICAL = 8, BITS = 16, PAIR = 32, FORTRAN = 64 };

struct float_int {
	float value;
	int at;
};
struct double_int {
	double value;
	int at;
};
struct long_int {
	long value;
	int at;
};
struct short_int {
	short value;
	int at;
};
struct two_int {
	int value;
	int at;
};
struct long_double_int {
	long double value;
	int at;
};

/* Element i is what is made of v; true: it is. */
#define SCALAR(name, type)                                                                                             \
	static void set_##name(void *buf, int i, int v)                                                                \
	{                                                                                                              \
		((type *)buf)[i] = (type)v;                                                                            \
	}                                                                                                              \
	static int same_##name(const void *a, const void *b, int i)                                                    \
	{                                                                                                              \
		return ((const type *)a)[i] == ((const type *)b)[i];                                                   \
	}
#define MADE_PAIR(name)                                                                                                \
	static void set_##name(void *buf, int i, int v)                                                                \
	{                                                                                                              \
		memset((struct name *)buf + i, 0, sizeof(struct name));                                                \
		((struct name *)buf)[i].value = v / 4; /* equal ones, too */                                           \
		((struct name *)buf)[i].at = 1000 - v;                                                                 \
	}                                                                                                              \
	static int same_##name(const void *a, const void *b, int i)                                                    \
	{                                                                                                              \
		const struct name *x = (const struct name *)a + i, *y = (const struct name *)b + i;                    \
		return x->value == y->value && x->at == y->at;                                                         \
	}
SCALAR(schar, signed char)
SCALAR(uchar, unsigned char)
SCALAR(short, short)
SCALAR(ushort, unsigned short)
SCALAR(int, int)
SCALAR(unsigned, unsigned)
SCALAR(long, long)
SCALAR(ulong, unsigned long)
SCALAR(llong, long long)
SCALAR(ullong, unsigned long long)
SCALAR(float, float)
SCALAR(double, double)
SCALAR(ldouble, long double)
SCALAR(bool, _Bool)
SCALAR(fcomplex, float complex)
SCALAR(dcomplex, double complex)
MADE_PAIR(float_int)
MADE_PAIR(double_int)
MADE_PAIR(long_int)
MADE_PAIR(short_int)
MADE_PAIR(two_int)
MADE_PAIR(long_double_int)

static const struct type {
	const char *name;
	MPI_Datatype type;
	unsigned kind;
	void (*set)(void *, int, int);
	int (*same)(const void *, const void *, int);
} types[] = {
	{"signed char", MPI_SIGNED_CHAR, INTEGER, set_schar, same_schar},
	{"unsigned char", MPI_UNSIGNED_CHAR, INTEGER, set_uchar, same_uchar},
	{"short", MPI_SHORT, INTEGER, set_short, same_short},
	{"unsigned short", MPI_UNSIGNED_SHORT, INTEGER, set_ushort, same_ushort},
	{"int", MPI_INT, INTEGER, set_int, same_int},
	{"unsigned", MPI_UNSIGNED, INTEGER, set_unsigned, same_unsigned},
	{"long", MPI_LONG, INTEGER, set_long, same_long},
	{"unsigned long", MPI_UNSIGNED_LONG, INTEGER, set_ulong, same_ulong},
	{"long long", MPI_LONG_LONG, INTEGER, set_llong, same_llong},
	{"unsigned long long", MPI_UNSIGNED_LONG_LONG, INTEGER, set_ullong, same_ullong},
	{"int8_t", MPI_INT8_T, INTEGER, set_schar, same_schar},
	{"uint16_t", MPI_UINT16_T, INTEGER, set_ushort, same_ushort},
	{"int32_t", MPI_INT32_T, INTEGER, set_int, same_int},
	{"uint64_t", MPI_UINT64_T, INTEGER, set_ulong, same_ulong},
	{"aint", MPI_AINT, INTEGER, set_long, same_long},
	{"count", MPI_COUNT, INTEGER, set_llong, same_llong},
	{"INTEGER", MPI_INTEGER, FORTRAN, set_int, same_int},
	{"float", MPI_FLOAT, FLOATING, set_float, same_float},
	{"double", MPI_DOUBLE, FLOATING, set_double, same_double},
	{"long double", MPI_LONG_DOUBLE, FLOATING, set_ldouble, same_ldouble},
	{"REAL", MPI_REAL, FLOATING, set_float, same_float},
	{"DOUBLE PRECISION", MPI_DOUBLE_PRECISION, FLOATING, set_double, same_double},
	{"float complex", MPI_C_FLOAT_COMPLEX, COMPLEX, set_fcomplex, same_fcomplex},
	{"double complex", MPI_C_DOUBLE_COMPLEX, COMPLEX, set_dcomplex, same_dcomplex},
	{"COMPLEX", MPI_COMPLEX, COMPLEX, set_fcomplex, same_fcomplex},
	{"bool", MPI_C_BOOL, LOGICAL, set_bool, same_bool},
	{"LOGICAL", MPI_LOGICAL, LOGICAL, set_int, same_int},
	{"byte", MPI_BYTE, BITS, set_uchar, same_uchar},
	{"float and int", MPI_FLOAT_INT, PAIR, set_float_int, same_float_int},
	{"double and int", MPI_DOUBLE_INT, PAIR, set_double_int, same_double_int},
	{"long and int", MPI_LONG_INT, PAIR, set_long_int, same_long_int},
	{"short and int", MPI_SHORT_INT, PAIR, set_short_int, same_short_int},
	{"two ints", MPI_2INT, PAIR, set_two_int, same_two_int},
	{"long double and int", MPI_LONG_DOUBLE_INT, PAIR, set_long_double_int, same_long_double_int},
};
#define TYPES ((int)(sizeof(types) / sizeof(types[0])))

static const struct op {
	const char *name;
	MPI_Op op;
	unsigned kinds;
} ops[] = {
	{"sum", MPI_SUM, INTEGER | FORTRAN | FLOATING | COMPLEX},
	{"prod", MPI_PROD, INTEGER | FORTRAN | FLOATING | COMPLEX},
	{"max", MPI_MAX, INTEGER | FORTRAN | FLOATING},
	{"min", MPI_MIN, INTEGER | FORTRAN | FLOATING},
	{"land", MPI_LAND, INTEGER | LOGICAL},
	{"lor", MPI_LOR, INTEGER | LOGICAL},
	{"lxor", MPI_LXOR, INTEGER | LOGICAL},
	{"band", MPI_BAND, INTEGER | FORTRAN | BITS},
	{"bor", MPI_BOR, INTEGER | FORTRAN | BITS},
	{"bxor", MPI_BXOR, INTEGER | FORTRAN | BITS},
	{"maxloc", MPI_MAXLOC, PAIR},
	{"minloc", MPI_MINLOC, PAIR},
};
#define OPS ((int)(sizeof(ops) / sizeof(ops[0])))

/* Small, so that sums and products of all are exact in all types; rank -1: what is there before. */
static int value_of(const struct op *op, int who, int i)
{
	if (op->op == MPI_PROD)
		return 1 + (who + i) % 2;
	if (op->op == MPI_LAND || op->op == MPI_LOR || op->op == MPI_LXOR)
		return (who + i) % 3 == 0 ? 0 : 1;
	return (who + 2) * 3 + i;
}

static void expose(void)
{
	MPI_Barrier(WORLD);
	MPI_Win_lock_all(0, win);
}

static void conceal(void)
{
	MPI_Win_unlock_all(win);
	MPI_Barrier(WORLD);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win); /* what is done now is not overtaken by what others do next */
}

static void hand_over(void)
{
	MPI_Win_unlock(rank, win);
}

#define PLACE (ELEMENTS * 32) /* bytes for each operation */

static void reduce_to(int target, const struct type *t, int o)
{
	char mine[PLACE], before[PLACE];

	for (int i = 0; i < ELEMENTS; i++)
		t->set(mine, i, value_of(&ops[o], rank, i));
	if ((rank + target + o) % 2)
		MPI_Accumulate(mine, ELEMENTS, t->type, target, o * PLACE, ELEMENTS, t->type, ops[o].op, win);
	else
		MPI_Get_accumulate(mine, ELEMENTS, t->type, before, ELEMENTS, t->type, target, o * PLACE, ELEMENTS,
			t->type, ops[o].op, win);
	MPI_Win_flush_local(target, win);
}

static void check_reduced(const struct type *t, int o)
{
	char one[PLACE], wanted[PLACE];

	memset(wanted, 0, sizeof(wanted));
	for (int i = 0; i < ELEMENTS; i++)
		t->set(wanted, i, value_of(&ops[o], -1, i));
	for (int r = 0; r < size; r++) {
		for (int i = 0; i < ELEMENTS; i++)
			t->set(one, i, value_of(&ops[o], r, i));
		MPI_Reduce_local(one, wanted, ELEMENTS, t->type, ops[o].op);
	}
	for (int i = 0; i < ELEMENTS; i++)
		CHECK(t->same(memory + o * PLACE, wanted, i), "%s of %s: element %d", ops[o].name, t->name, i);
}

/* Each rank to all ranks; some by get_accumulate, as the fetched values must not matter. */
static void reduce_all(const struct type *t)
{
	for (int o = 0; o < OPS; o++)
		for (int i = 0; i < ELEMENTS; i++)
			t->set(memory + o * PLACE, i, value_of(&ops[o], -1, i));
	expose();
	for (int o = 0; o < OPS; o++)
		for (int r = 0; r < size; r++)
			if (t->kind & ops[o].kinds)
				reduce_to(r, t, o);
	conceal();
	for (int o = 0; o < OPS; o++)
		if (t->kind & ops[o].kinds)
			check_reduced(t, o);
	hand_over();
}

/* All at once replace the same: each element is one of theirs. And what is there is fetched and left. */
static void replace_all(const struct type *t)
{
	char mine[ELEMENTS * 32], seen[ELEMENTS * 32], one[ELEMENTS * 32];
	int v = t->kind == LOGICAL ? 1 : 3 * (rank + 1);

	for (int i = 0; i < ELEMENTS; i++) {
		t->set(mine, i, v);
		t->set(memory, i, 0);
		t->set(seen, i, 77);
	}
	expose();
	for (int r = 0; r < size; r++)
		MPI_Accumulate(mine, ELEMENTS, t->type, r, 0, ELEMENTS, t->type, MPI_REPLACE, win);
	conceal();
	for (int i = 0; i < ELEMENTS; i++) {
		int found = 0;
		for (int r = 0; r < size; r++) {
			t->set(one, i, t->kind == LOGICAL ? 1 : 3 * (r + 1));
			found |= t->same(memory, one, i);
		}
		CHECK(found, "replace of %s: element %d is nobody's", t->name, i);
		t->set(memory, i, (t->kind == LOGICAL ? 1 : rank) + i);
	}
	hand_over();
	int of = (rank + 1) % size;
	expose();
	MPI_Get_accumulate(NULL, 0, t->type, seen, ELEMENTS, t->type, of, 0, ELEMENTS, t->type, MPI_NO_OP, win);
	conceal();
	for (int i = 0; i < ELEMENTS; i++) {
		t->set(one, i, (t->kind == LOGICAL ? 1 : of) + i);
		CHECK(t->same(seen, one, i), "no_op of %s: element %d", t->name, i);
	}
	hand_over();
}

static void all_operations(void)
{
	for (int t = 0; t < TYPES; t++) {
		reduce_all(&types[t]);
		replace_all(&types[t]);
	}
}

/* --- fetch and op --- */

#define TIMES 8

/* Each rank takes numbers from all ranks: each number once. */
static void tickets(void)
{
	int64_t one = 1, *mine = calloc((size_t)(TIMES * size), sizeof(*mine)), *all = NULL;
	int64_t *seen = calloc((size_t)(TIMES * size), sizeof(*seen));

	memset(memory, 0, 64);
	expose();
	for (int i = 0; i < TIMES; i++)
		for (int r = 0; r < size; r++)
			MPI_Fetch_and_op(&one, &mine[r * TIMES + i], MPI_INT64_T, r, 0, MPI_SUM, win);
	conceal();
	CHECK_INT(*(int64_t *)(void *)memory, TIMES * size);
	hand_over();
	all = calloc((size_t)(TIMES * size), sizeof(*all));
	MPI_Alltoall(mine, TIMES, MPI_INT64_T, all, TIMES, MPI_INT64_T, WORLD);
	for (int i = 0; i < TIMES * size; i++) {
		CHECK(all[i] >= 0 && all[i] < TIMES * size, "ticket %d is %lld", i, (long long)all[i]);
		if (all[i] >= 0 && all[i] < TIMES * size)
			seen[all[i]]++;
		if (i % TIMES > 0)
			CHECK(all[i] > all[i - 1], "tickets of %d do not ascend", i / TIMES);
	}
	for (int i = 0; i < TIMES * size; i++)
		CHECK(seen[i] == 1, "ticket %d: %d times", i, (int)seen[i]);
	free(mine);
	free(all);
	free(seen);
}

/* Every value that a rank takes out was put in by another rank: nothing is lost, and nothing comes twice. */
static void swaps(int target)
{
	int value = rank + 1, sum;
	int32_t *cell = (int32_t *)(void *)memory;

	*cell = 0;
	expose();
	for (int i = 0; i < TIMES; i++) {
		int got;
		MPI_Fetch_and_op(&value, &got, MPI_INT, target, 0, MPI_REPLACE, win);
		MPI_Win_flush(target, win);
		value = got;
	}
	conceal();
	if (rank == target)
		value += *cell;
	hand_over();
	MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(sum, size * (size + 1) / 2);
}

static void fetch_types(void)
{
	for (int t = 0; t < TYPES; t++) {
		char mine[32], seen[32], wanted[32], left[32];
		int next = (rank + 1) % size;
		MPI_Op op = types[t].kind & (INTEGER | FORTRAN | FLOATING | COMPLEX) ? MPI_SUM
			    : types[t].kind & PAIR				     ? MPI_MAXLOC
			    : types[t].kind & LOGICAL				     ? MPI_LOR
										     : MPI_BXOR;
		int before = types[t].kind & LOGICAL ? 0 : 5, v = types[t].kind & LOGICAL ? 1 : 9;
		memset(left, 0, sizeof(left));
		types[t].set(memory, 1, before);
		types[t].set(mine, 0, v);
		types[t].set(wanted, 0, before);
		types[t].set(left, 0, before);
		MPI_Reduce_local(mine, left, 1, types[t].type, op);
		MPI_Aint lb, extent;
		MPI_Type_get_extent(types[t].type, &lb, &extent);
		expose();
		MPI_Fetch_and_op(mine, seen, types[t].type, next, extent, op, win);
		conceal();
		CHECK(types[t].same(seen, wanted, 0), "fetch_and_op of %s: fetched", types[t].name);
		CHECK(types[t].same(memory + extent, left, 0), "fetch_and_op of %s: left", types[t].name);
		hand_over();
	}
}

/* --- compare and swap --- */

#define SWAP(name, type, datatype)                                                                                     \
	static void swap_##name(int target)                                                                            \
	{                                                                                                              \
		type was = 0, next, got;                                                                               \
		*(type *)(void *)memory = 0;                                                                           \
		expose();                                                                                              \
		for (int done = 0; done < TIMES / 2;) {                                                                \
			next = (type)(was + 1);                                                                        \
			MPI_Compare_and_swap(&next, &was, &got, datatype, target, 0, win);                             \
			MPI_Win_flush(target, win);                                                                    \
			done += got == was;                                                                            \
			was = got == was ? next : got;                                                                 \
		}                                                                                                      \
		conceal();                                                                                             \
		if (rank == target)                                                                                    \
			CHECK_INT(*(type *)(void *)memory, TIMES / 2 * size);                                          \
		hand_over();                                                                                           \
	}
SWAP(int, int, MPI_INT)
SWAP(uint8, uint8_t, MPI_UINT8_T)
SWAP(short, short, MPI_SHORT)
SWAP(int64, int64_t, MPI_INT64_T)
SWAP(unsigned_long, unsigned long, MPI_UNSIGNED_LONG)
SWAP(byte, unsigned char, MPI_BYTE)
SWAP(integer, int, MPI_INTEGER)

/* --- order --- */

/* One origin's to one place are done in their order, if nothing else was asked for. */
static void order(void)
{
	int next = (rank + 1) % size, left = (rank + size - 1) % size, seen[TIMES], value[TIMES];
	int *cell = (int *)(void *)memory;

	memset(memory, 0, 256);
	expose();
	for (int i = 0; i < TIMES; i++) {
		value[i] = 100 * rank + i;
		MPI_Accumulate(&value[i], 1, MPI_INT, next, 0, 1, MPI_INT, MPI_REPLACE, win);
		MPI_Get_accumulate(NULL, 0, MPI_INT, &seen[i], 1, MPI_INT, next, 0, 1, MPI_INT, MPI_NO_OP, win);
	}
	conceal();
	for (int i = 0; i < TIMES; i++)
		CHECK_INT(seen[i], value[i]);
	CHECK_INT(cell[0], 100 * left + TIMES - 1);
	hand_over();
}

/* Large ones beside small ones; and the same place by a large one first. */
static void large(void)
{
	enum { N = BYTES / 8 };
	int64_t *out = malloc(N * sizeof(*out)), *cell = (int64_t *)(void *)memory, one = 1, wrong = 0;
	int next = (rank + 1) % size;

	for (int i = 0; i < N; i++)
		out[i] = (int64_t)i * (rank + 1), cell[i] = i;
	expose();
	for (int r = 0; r < size; r++)
		MPI_Accumulate(out, N, MPI_INT64_T, r, 0, N, MPI_INT64_T, MPI_SUM, win);
	for (int i = 0; i < TIMES; i++)
		MPI_Accumulate(&one, 1, MPI_INT64_T, next, 8 * i, 1, MPI_INT64_T, MPI_SUM, win);
	conceal();
	for (int i = 0; i < N; i++)
		wrong += cell[i] != i + (int64_t)i * size * (size + 1) / 2 + (i < TIMES);
	CHECK_INT(wrong, 0);
	hand_over();
	for (int i = 0; i < N; i++)
		out[i] = -1 - rank;
	expose();
	if (rank == 0) {
		MPI_Accumulate(out, N, MPI_INT64_T, next, 0, N, MPI_INT64_T, MPI_REPLACE, win);
		for (int i = 0; i < 3; i++)
			MPI_Accumulate(&one, 1, MPI_INT64_T, next, BYTES - 8, 1, MPI_INT64_T, MPI_SUM, win);
	}
	conceal();
	if (rank == 1 % size)
		CHECK_INT(cell[N - 1], 2);
	hand_over();
	free(out);
}

/* Into columns, and what was there into rows. */
static void gaps(void)
{
	enum { N = 8 };
	int out[N * N], seen[N * N], *cell = (int *)(void *)memory;
	MPI_Datatype one, column;

	MPI_Type_vector(N, 1, N, MPI_INT, &one);
	MPI_Type_create_resized(one, 0, sizeof(int), &column);
	MPI_Type_free(&one);
	MPI_Type_commit(&column);
	for (int i = 0; i < N * N; i++)
		out[i] = i, cell[i] = 0, seen[i] = -1;
	expose();
	for (int r = 0; r < size; r++)
		MPI_Get_accumulate(out, N * N, MPI_INT, seen, N * N, MPI_INT, r, 0, N, column, MPI_SUM, win);
	conceal();
	for (int i = 0; i < N * N; i++) {
		CHECK_INT(cell[i], size * (i % N * N + i / N));
		CHECK(i == 0 ? seen[i] == 0 : seen[i] % i == 0 && seen[i] / i < size, "fetched with gaps: %d is %d", i,
			seen[i]);
	}
	hand_over();
	MPI_Type_free(&column);
}

/* Pairs; every other one is present. */
static void pairs_with_gaps(void)
{
	struct double_int out[ELEMENTS], *cell = (struct double_int *)(void *)memory;
	MPI_Datatype other;

	MPI_Type_vector(ELEMENTS, 1, 2, MPI_DOUBLE_INT, &other);
	MPI_Type_commit(&other);
	for (int i = 0; i < ELEMENTS; i++) {
		set_double_int(out, i, 8 * ((rank + i) % size));
		out[i].at = rank;
		set_double_int(cell, 2 * i, -8);
		set_double_int(cell, 2 * i + 1, -16);
	}
	expose();
	for (int r = 0; r < size; r++)
		MPI_Accumulate(out, ELEMENTS, MPI_DOUBLE_INT, r, 0, 1, other, MPI_MAXLOC, win);
	conceal();
	for (int i = 0; i < ELEMENTS; i++) {
		CHECK_INT(cell[2 * i].value, 2 * (size - 1));
		CHECK_INT(cell[2 * i].at, (size - 1 + ELEMENTS * size - i) % size);
		CHECK_INT(cell[2 * i + 1].value, -4);
	}
	hand_over();
	MPI_Type_free(&other);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, WORLD, &memory, &win);
	all_operations();
	tickets();
	fetch_types();
	for (int target = 0; target < size; target++) {
		swaps(target);
		swap_int(target);
		swap_int64(target);
	}
	swap_uint8(0);
	swap_short(size - 1);
	swap_unsigned_long(0);
	swap_byte(size - 1);
	swap_integer(1 % size);
	order();
	large();
	gaps();
	pairs_with_gaps();
	MPI_Win_free(&win);
	return end();
}
