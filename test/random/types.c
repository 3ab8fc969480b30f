/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes and buffers for them. See types.h. */
#include "types.h"

#include <stdlib.h>
#include <string.h>

#include "trace.h"

#define ALIGN 16 /* of what structures put side by side, in bytes */

static const MPI_Datatype basics[] = {MPI_INT, MPI_BYTE, MPI_CHAR, MPI_SHORT, MPI_DOUBLE, MPI_LONG, MPI_UNSIGNED,
	MPI_FLOAT, MPI_INT8_T, MPI_UINT16_T, MPI_INT32_T, MPI_UINT64_T, MPI_LONG_LONG, MPI_C_FLOAT_COMPLEX,
	MPI_C_DOUBLE_COMPLEX, MPI_2INT, MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_AINT, MPI_UNSIGNED_CHAR};

static int size_of(MPI_Datatype type)
{
	int size;
	MPI_Type_size(type, &size);
	return size;
}

struct unit types_unit(struct draw *d, int most_bytes)
{
	struct unit u = {draw_chance(d, 70) ? 1 : draw_between(d, 2, UNIT_PARTS), {0}, {0}};
	for (int i = 0; i < u.n; i++) {
		int n = sizeof basics / sizeof *basics, most;
		u.basic[i] = basics[draw_chance(d, 40) ? draw_below(d, 2) : draw_below(d, n)];
		most = most_bytes / u.n / size_of(u.basic[i]);
		u.count[i] = most <= 1 ? 1 : draw_between(d, 1, most);
	}
	return u;
}

int types_unit_size(const struct unit *unit)
{
	int size = 0;
	for (int i = 0; i < unit->n; i++)
		size += unit->count[i] * size_of(unit->basic[i]);
	return size;
}

bool types_is_plain(const struct unit *unit)
{
	MPI_Datatype basic = unit->basic[0];
	return unit->n == 1 && basic != MPI_2INT && basic != MPI_DOUBLE_INT && basic != MPI_SHORT_INT;
}

void types_unit_limit(struct unit *unit, int units)
{
	if (types_is_plain(unit) || (long long)types_unit_size(unit) * units <= 8000)
		return;
	unit->n = 1;
	if (!types_is_plain(unit))
		unit->basic[0] = MPI_INT;
}

/* --- n copies of a type, in many ways */
static int divisor(struct draw *d, int n)
{
	int list[64], found = 0;
	for (int i = 1; i <= n && i <= 4096 && found < 64; i++)
		if (n % i == 0)
			list[found++] = i;
	return list[draw_below(d, found)];
}

static MPI_Aint extent_of(MPI_Datatype type)
{
	MPI_Aint lb, extent;
	TRY(MPI_Type_get_extent(type, &lb, &extent));
	return extent;
}

/* Draws blocks that have n copies together, with gaps between them. Returns the number of blocks. */
#define BLOCKS 6
static int blocks(struct draw *d, int n, int lens[], int displs[])
{
	int b = n < 2 ? 1 : draw_between(d, 1, n < BLOCKS ? n : BLOCKS), order[BLOCKS], at = draw_below(d, 3);
	int placed[BLOCKS];
	for (int i = 0; i < b; i++)
		lens[i] = n / b + (i < n % b), order[i] = i;
	if (draw_chance(d, 40))
		draw_shuffle(d, order, b);
	for (int i = 0; i < b; i++) {
		placed[order[i]] = at;
		at += lens[order[i]] + draw_below(d, 3);
	}
	memcpy(displs, placed, b * sizeof *placed);
	return b;
}

static MPI_Datatype by_blocks(struct draw *d, MPI_Datatype inner, int n)
{
	int lens[BLOCKS], displs[BLOCKS], b = blocks(d, n, lens, displs);
	MPI_Aint bytes[BLOCKS], extent = extent_of(inner), shift = ALIGN * draw_between(d, -2, 2);
	MPI_Datatype made, types[BLOCKS];
	for (int i = 0; i < b; i++)
		bytes[i] = displs[i] * extent + shift, types[i] = inner;
	switch (draw_below(d, 3)) {
	case 0:
		TRY(MPI_Type_indexed(b, lens, displs, inner, &made));
		break;
	case 1:
		TRY(MPI_Type_create_hindexed(b, lens, bytes, inner, &made));
		break;
	default:
		TRY(MPI_Type_create_struct(b, lens, bytes, types, &made));
	}
	return made;
}

static MPI_Datatype by_equal_blocks(struct draw *d, MPI_Datatype inner, int n)
{
	int len = divisor(d, n), b = n / len, displs[64], at = 0;
	MPI_Aint bytes[64], extent = extent_of(inner);
	MPI_Datatype made;
	if (b > 64) {
		TRY(MPI_Type_vector(b, len, len + draw_below(d, 3), inner, &made));
		return made;
	}
	for (int i = 0; i < b; i++) {
		displs[i] = at;
		bytes[i] = at * extent;
		at += len + draw_below(d, 3);
	}
	if (draw_chance(d, 50))
		TRY(MPI_Type_create_indexed_block(b, len, displs, inner, &made));
	else
		TRY(MPI_Type_create_hindexed_block(b, len, bytes, inner, &made));
	return made;
}

static MPI_Datatype by_stride(struct draw *d, MPI_Datatype inner, int n)
{
	int len = divisor(d, n), stride = len + draw_below(d, 4);
	MPI_Datatype made;
	if (draw_chance(d, 60))
		TRY(MPI_Type_vector(n / len, len, stride, inner, &made));
	else
		TRY(MPI_Type_create_hvector(n / len, len, stride * extent_of(inner) + ALIGN * draw_below(d, 2), inner,
			&made));
	return made;
}

static MPI_Datatype by_subarray(struct draw *d, MPI_Datatype inner, int n)
{
	int len = divisor(d, n), order = draw_chance(d, 50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
	int subsizes[2] = {n / len, len}, sizes[2], starts[2];
	MPI_Datatype made;
	for (int i = 0; i < 2; i++) {
		sizes[i] = subsizes[i] + draw_below(d, 3);
		starts[i] = draw_below(d, sizes[i] - subsizes[i] + 1);
	}
	TRY(MPI_Type_create_subarray(2, sizes, subsizes, starts, order, inner, &made));
	return made;
}

static MPI_Datatype resized(struct draw *d, MPI_Datatype inner)
{
	MPI_Aint lb, extent;
	MPI_Datatype made;
	TRY(MPI_Type_get_extent(inner, &lb, &extent));
	TRY(MPI_Type_create_resized(inner, lb - ALIGN * draw_below(d, 3), extent + ALIGN * draw_between(d, 2, 4),
		&made));
	return made;
}

/* An array begins where its lower bound is, so an element that begins elsewhere would lie outside, and over another
 * one. */
static bool begins_at_0(MPI_Datatype type)
{
	MPI_Aint lb, extent;
	TRY(MPI_Type_get_extent(type, &lb, &extent));
	return lb == 0;
}

static MPI_Datatype copies(struct draw *d, MPI_Datatype inner, int n)
{
	MPI_Datatype made;
	switch (draw_below(d, begins_at_0(inner) ? 6 : 4)) {
	case 0:
		TRY(MPI_Type_contiguous(n, inner, &made));
		break;
	case 1:
		made = by_stride(d, inner, n);
		break;
	case 2:
		made = by_blocks(d, inner, n);
		break;
	case 3:
		made = by_equal_blocks(d, inner, n);
		break;
	case 4:
		made = by_subarray(d, inner, n);
		break;
	default:
		made = by_stride(d, inner, n);
	}
	return made;
}

/* Replaces a type by one made from it. */
static void replace(MPI_Datatype *type, MPI_Datatype by)
{
	types_free(type);
	*type = by;
}

/* n copies, in up to three levels */
static MPI_Datatype nested(struct draw *d, MPI_Datatype basic, int n)
{
	int levels = draw_between(d, 1, 3), left = n;
	MPI_Datatype type;
	TRY(MPI_Type_dup(basic, &type));
	while (--levels > 0 && left > 1) {
		int some = divisor(d, left);
		replace(&type, copies(d, type, some));
		left /= some;
		if (draw_chance(d, 20))
			replace(&type, resized(d, type));
	}
	replace(&type, copies(d, type, left));
	return type;
}

/* the parts of a unit, side by side */
static MPI_Datatype joined(struct draw *d, const struct unit *unit)
{
	MPI_Datatype part[UNIT_PARTS], made;
	MPI_Aint displs[UNIT_PARTS], at = 0, lb, extent;
	int one[UNIT_PARTS] = {1, 1, 1}, order[UNIT_PARTS] = {0, 1, 2};
	draw_shuffle(d, order, unit->n);
	for (int i = 0; i < unit->n; i++) {
		int p = order[i];
		part[p] = nested(d, unit->basic[p], unit->count[p]);
		TRY(MPI_Type_get_true_extent(part[p], &lb, &extent));
		displs[p] = at - (lb / ALIGN - 1) * ALIGN;
		at += (extent / ALIGN + 3) * ALIGN;
	}
	if (unit->n == 1)
		return part[0];
	TRY(MPI_Type_create_struct(unit->n, one, displs, part, &made));
	for (int i = 0; i < unit->n; i++)
		types_free(&part[i]);
	return made;
}

MPI_Datatype types_layout(struct draw *d, const struct unit *unit, int units)
{
	MPI_Datatype type = joined(d, unit);
	if (units != 1)
		replace(&type, nested(d, type, units));
	if (draw_chance(d, 15))
		replace(&type, resized(d, type));
	TRY(MPI_Type_commit(&type));
	return type;
}

MPI_Datatype types_pieces(struct draw *d, const struct unit *unit, int units, int *count)
{
	int some = units ? divisor(d, units) : 1;
	if (unit->n == 1 && draw_chance(d, 30)) {
		*count = units * unit->count[0];
		return unit->basic[0];
	}
	*count = units / some;
	return types_layout(d, unit, some);
}

void types_free(MPI_Datatype *type)
{
	for (unsigned i = 0; i < sizeof basics / sizeof *basics; i++)
		if (*type == basics[i])
			return;
	TRY(MPI_Type_free(type));
}

struct buffer buffer_make(MPI_Aint low, MPI_Aint high)
{
	struct buffer b = {0};
	low &= ~(MPI_Aint)(ALIGN - 1); /* downwards, also below 0 */
	b.len = (size_t)(high > low ? high - low : 0) + 2 * BUFFER_MARGIN;
	b.base = aligned_alloc(64, (b.len + 63) / 64 * 64);
	b.at = b.base + BUFFER_MARGIN - low;
	return b;
}

struct buffer buffer_spanning(MPI_Datatype type, MPI_Aint count)
{
	MPI_Aint low, span, lb, extent;
	struct buffer b;
	TRY(MPI_Type_get_true_extent(type, &low, &span));
	TRY(MPI_Type_get_extent(type, &lb, &extent));
	b = count == 0 ? buffer_make(0, 0) : buffer_make(low, low + span + (count - 1) * extent);
	b.data = calloc(1, b.len);
	return b;
}

struct buffer buffer_for(MPI_Datatype type, MPI_Aint count, uint64_t seed)
{
	struct buffer b = buffer_spanning(type, count);
	buffer_mark(&b, 0, type, count);
	buffer_fill(&b, seed);
	return b;
}

void buffer_mark(struct buffer *b, MPI_Aint displ, MPI_Datatype type, MPI_Aint count)
{
	int pos = 0, bytes = (int)count * size_of(type);
	char *ones = malloc(bytes + 1);
	if (!b->data) /* so far all was data */
		b->data = calloc(1, b->len);
	memset(ones, 1, bytes);
	if (bytes)
		TRY(MPI_Unpack(ones, bytes, &pos, b->data + ((char *)b->at - b->base) + displ, (int)count, type,
			MPI_COMM_SELF));
	free(ones);
}

void buffer_fill(struct buffer *b, uint64_t seed)
{
	struct draw d = draw_from(seed, 0xb0f);
	uint64_t word = 0;
	for (size_t i = 0; i < b->len; i++, word >>= 8) {
		if (i % 8 == 0)
			word = draw_next(&d);
		b->base[i] = !b->data || b->data[i] ? (char)word : (char)0xa5;
	}
}

uint64_t buffer_hash(const struct buffer *b)
{
	return trace_hash(b->base, b->len, b->len);
}

void buffer_trace(const struct buffer *b, const char *what)
{
	trace_bytes(b->base, b->len, what);
}

void buffer_free(struct buffer *b)
{
	free(b->base);
	free(b->data);
	b->base = NULL;
}
