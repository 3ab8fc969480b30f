/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for reductions whose result does not depend on the order of evaluation, and user operations. Floating-point
 * numbers are small whole numbers, so that no operation rounds.
 */
#include <string.h>

#include "coll.h"
#include "trace.h"

enum fill { BITS, FLAGS, SMALL_FLOAT, SMALL_DOUBLE, UNIT_FLOAT, UNIT_DOUBLE };
enum own_op { NONE, CIRCLE, FIRST, MATRIX, GAPS };

struct number {
	const char *name;
	MPI_Datatype type;
	int size;
	enum fill fill;
	MPI_Op op;
	enum own_op own;
};
#define INTEGER(TYPE, size)                                                                                            \
	{#TYPE " sum", TYPE, size, BITS, MPI_SUM, NONE}, {#TYPE " max", TYPE, size, BITS, MPI_MAX, NONE},              \
		{#TYPE " min", TYPE, size, BITS, MPI_MIN, NONE}, {#TYPE " prod", TYPE, size, BITS, MPI_PROD, NONE},    \
		{#TYPE " band", TYPE, size, BITS, MPI_BAND, NONE}, {#TYPE " lor", TYPE, size, BITS, MPI_LOR, NONE},    \
	{                                                                                                              \
#TYPE " lxor", TYPE, size, BITS, MPI_LXOR, NONE                                                        \
	}
static const struct number numbers[] = {
	/* user operations, which are drawn more often */
	{"circle", MPI_INT, 4, BITS, MPI_OP_NULL, CIRCLE},
	{"first", MPI_UINT32_T, 4, BITS, MPI_OP_NULL, FIRST},
	{"matrix", MPI_DATATYPE_NULL, 16, BITS, MPI_OP_NULL, MATRIX},
	{"matrix with gaps", MPI_DATATYPE_NULL, 24, BITS, MPI_OP_NULL, GAPS},
	INTEGER(MPI_INT, 4),
	INTEGER(MPI_SHORT, 2),
	INTEGER(MPI_UNSIGNED, 4),
	INTEGER(MPI_LONG, 8),
	INTEGER(MPI_INT8_T, 1),
	INTEGER(MPI_UINT16_T, 2),
	INTEGER(MPI_UINT64_T, 8),
	INTEGER(MPI_LONG_LONG, 8),
	{"MPI_BYTE bxor", MPI_BYTE, 1, BITS, MPI_BXOR, NONE},
	{"MPI_BYTE bor", MPI_BYTE, 1, BITS, MPI_BOR, NONE},
	{"MPI_AINT sum", MPI_AINT, 8, BITS, MPI_SUM, NONE},
	{"MPI_COUNT max", MPI_COUNT, 8, BITS, MPI_MAX, NONE},
	{"MPI_OFFSET bor", MPI_OFFSET, 8, BITS, MPI_BOR, NONE},
	{"MPI_C_BOOL land", MPI_C_BOOL, 1, FLAGS, MPI_LAND, NONE},
	{"MPI_C_BOOL lor", MPI_C_BOOL, 1, FLAGS, MPI_LOR, NONE},
	{"MPI_FLOAT sum", MPI_FLOAT, 4, SMALL_FLOAT, MPI_SUM, NONE},
	{"MPI_FLOAT min", MPI_FLOAT, 4, SMALL_FLOAT, MPI_MIN, NONE},
	{"MPI_FLOAT prod", MPI_FLOAT, 4, UNIT_FLOAT, MPI_PROD, NONE},
	{"MPI_DOUBLE sum", MPI_DOUBLE, 8, SMALL_DOUBLE, MPI_SUM, NONE},
	{"MPI_DOUBLE max", MPI_DOUBLE, 8, SMALL_DOUBLE, MPI_MAX, NONE},
	{"MPI_DOUBLE prod", MPI_DOUBLE, 8, UNIT_DOUBLE, MPI_PROD, NONE},
	{"MPI_C_FLOAT_COMPLEX sum", MPI_C_FLOAT_COMPLEX, 8, SMALL_FLOAT, MPI_SUM, NONE},
	{"MPI_C_DOUBLE_COMPLEX sum", MPI_C_DOUBLE_COMPLEX, 16, SMALL_DOUBLE, MPI_SUM, NONE},
	{"MPI_2INT maxloc", MPI_2INT, 8, FLAGS, MPI_MAXLOC, NONE},
	{"MPI_2INT minloc", MPI_2INT, 8, BITS, MPI_MINLOC, NONE},
};
#define NNUMBERS ((int)(sizeof numbers / sizeof *numbers))
#define NOWN 4

int coll_number(struct draw *d)
{
	return draw_below(d, draw_chance(d, 35) ? NOWN : NNUMBERS);
}

int coll_number_without_gaps(int number)
{
	return numbers[number].own == GAPS ? number - 1 : number;
}

const char *coll_number_name(int number)
{
	return numbers[number].name;
}

int coll_number_extent(int number)
{
	return numbers[number].size;
}

MPI_Datatype coll_number_type(int number, bool *own)
{
	MPI_Datatype four, made;
	*own = numbers[number].type == MPI_DATATYPE_NULL;
	if (!*own)
		return numbers[number].type;
	TRY(MPI_Type_contiguous(4, MPI_UINT32_T, &four));
	TRY(MPI_Type_create_resized(four, 0, numbers[number].size, &made));
	TRY(MPI_Type_free(&four));
	TRY(MPI_Type_commit(&made));
	return made;
}

/* --- user operations: associative, and only the first one is commutative */
static void circle(void *in, void *inout, long long n)
{
	uint32_t *a = in, *b = inout;
	for (long long i = 0; i < n; i++)
		b[i] = a[i] + b[i] + a[i] * b[i];
}

static void first(void *in, void *inout, long long n)
{
	memcpy(inout, in, n * 4);
}

static void matrix(char *in, char *inout, long long n, int extent)
{
	for (long long i = 0; i < n; i++, in += extent, inout += extent) {
		uint32_t a[4], b[4], c[4];
		memcpy(a, in, sizeof a);
		memcpy(b, inout, sizeof b);
		for (int k = 0; k < 4; k++)
			c[k] = a[k & 2] * b[k & 1] + a[(k & 2) + 1] * b[(k & 1) + 2];
		memcpy(inout, c, sizeof c);
	}
}

static int extent_of(MPI_Datatype *type)
{
	MPI_Aint lb, extent;
	MPI_Type_get_extent(*type, &lb, &extent);
	return (int)extent;
}

#define BOTH(NAME, BODY)                                                                                               \
	static void NAME(void *in, void *inout, int *n, MPI_Datatype *type)                                            \
	{                                                                                                              \
		(void)type;                                                                                            \
		BODY;                                                                                                  \
	}                                                                                                              \
	static void NAME##_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)                                  \
	{                                                                                                              \
		(void)type;                                                                                            \
		BODY;                                                                                                  \
	}
BOTH(circle_op, circle(in, inout, *n))
BOTH(first_op, first(in, inout, *n))
BOTH(matrix_op, matrix(in, inout, *n, extent_of(type)))
static MPI_User_function *const functions[] = {NULL, circle_op, first_op, matrix_op, matrix_op};
static MPI_User_function_c *const functions_c[] = {NULL, circle_op_c, first_op_c, matrix_op_c, matrix_op_c};

MPI_Op coll_number_op(int number, bool large, bool *own)
{
	const struct number *n = &numbers[number];
	MPI_Op op = n->op;
	*own = n->own != NONE;
	if (*own && large)
		TRY(MPI_Op_create_c(functions_c[n->own], n->own == CIRCLE, &op));
	else if (*own)
		TRY(MPI_Op_create(functions[n->own], n->own == CIRCLE, &op));
	return op;
}

static void fill_floats(enum fill fill, void *at, int bytes, struct draw *d)
{
	static const int units[] = {1, -1, 2, 1};
	int n = bytes / (fill == SMALL_FLOAT || fill == UNIT_FLOAT ? 4 : 8);
	for (int i = 0; i < n; i++) {
		int value = fill == SMALL_FLOAT || fill == SMALL_DOUBLE ? draw_between(d, -99, 99)
									: units[draw_below(d, 4)];
		if (fill == SMALL_FLOAT || fill == UNIT_FLOAT)
			((float *)at)[i] = (float)value;
		else
			((double *)at)[i] = value;
	}
}

void coll_number_fill(int number, void *at, int count, uint64_t seed)
{
	const struct number *n = &numbers[number];
	struct draw d = draw_from(seed, 0x9a3);
	unsigned char *bytes = at;
	if (n->fill == BITS)
		for (int i = 0; i < count * n->size; i++)
			bytes[i] = n->own == GAPS && i % n->size >= 16 ? 0xa5 : (unsigned char)draw_next(&d);
	else if (n->fill == FLAGS)
		for (int i = 0; i < count * n->size; i++)
			bytes[i] = draw_chance(&d, n->size == 1 ? 85 : 20);
	else
		fill_floats(n->fill, at, count * n->size, &d);
}
