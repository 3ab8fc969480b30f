/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers that a datatype consists of, and their conversion. See signature.h. */
#include "libzip/type/signature.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "libzip/type/content.h"
#include "libzip/abi/abi.h"
#include "libzip/shim/shim.h"

#define LONG_WIRE_BYTES 8

static int add_run(struct zsignature *s, struct zsignature_run r)
{
	if (r.count == 0)
		return MPI_SUCCESS;
	s->native_bytes += r.native * r.count;
	s->wire_bytes += r.wire * r.count;
	if (s->nruns > 0) {
		struct zsignature_run *last = &s->run[s->nruns - 1];
		if (last->native == r.native && last->wire == r.wire && last->is_signed == r.is_signed) {
			last->count += r.count;
			return MPI_SUCCESS;
		}
	}
	if (s->nruns == s->room) {
		size_t room = s->room ? s->room * 2 : 4;
		struct zsignature_run *run = realloc(s->run, room * sizeof(*run));
		if (!run)
			return MPI_ERR_NO_MEM;
		s->run = run;
		s->room = room;
	}
	s->run[s->nruns++] = r;
	return MPI_SUCCESS;
}

static int add_numbers(struct zsignature *s, size_t bytes, uint64_t count)
{
	return add_run(s, (struct zsignature_run){(uint8_t)bytes, (uint8_t)bytes, 0, count});
}

static int add_longs(struct zsignature *s, bool is_signed)
{
	return add_run(s, (struct zsignature_run){sizeof(long), LONG_WIRE_BYTES, is_signed, 1});
}

static int add_pair(struct zsignature *s, size_t first_bytes)
{
	int rc = add_numbers(s, first_bytes, 1);

	return rc == MPI_SUCCESS ? add_numbers(s, sizeof(int), 1) : rc;
}

/* Types that consist of several numbers. All others are one number, or bytes. */
static int add_named(struct zsignature *s, MPI_Datatype t, uint64_t size)
{
	if (t == MPI_LONG || t == MPI_UNSIGNED_LONG)
		return add_longs(s, t == MPI_LONG);
	if (t == MPI_LONG_INT) {
		int rc = add_longs(s, true);
		return rc == MPI_SUCCESS ? add_numbers(s, sizeof(int), 1) : rc;
	}
	if (t == MPI_FLOAT_INT)
		return add_pair(s, sizeof(float));
	if (t == MPI_DOUBLE_INT)
		return add_pair(s, sizeof(double));
	if (t == MPI_SHORT_INT)
		return add_pair(s, sizeof(short));
	if (t == MPI_2INT)
		return add_numbers(s, sizeof(int), 2);
	if (t == MPI_LONG_DOUBLE_INT) {
		int rc = add_numbers(s, 1, sizeof(long double));
		return rc == MPI_SUCCESS ? add_numbers(s, sizeof(int), 1) : rc;
	}
	if (t == MPI_LONG_DOUBLE || t == MPI_C_LONG_DOUBLE_COMPLEX || t == MPI_CXX_LONG_DOUBLE_COMPLEX)
		return add_numbers(s, 1, size);
	if (t == MPI_C_FLOAT_COMPLEX || t == MPI_C_DOUBLE_COMPLEX || t == MPI_CXX_FLOAT_COMPLEX ||
		t == MPI_CXX_DOUBLE_COMPLEX || t == MPI_COMPLEX || t == MPI_DOUBLE_COMPLEX || t == MPI_COMPLEX8 ||
		t == MPI_COMPLEX16 || t == MPI_COMPLEX4 || t == MPI_2INTEGER || t == MPI_2REAL ||
		t == MPI_2DOUBLE_PRECISION)
		return add_numbers(s, size / 2, 2);
	return size == 1 || size == 2 || size == 4 || size == 8 ? add_numbers(s, size, 1) : add_numbers(s, 1, size);
}

static int add_type(struct zsignature *s, MPI_Datatype t, uint64_t count);

static int add_copies(struct zsignature *s, const struct zsignature *of, uint64_t count)
{
	int rc = MPI_SUCCESS;

	if (of->nruns == 1) {
		struct zsignature_run r = of->run[0];
		r.count *= count;
		return add_run(s, r);
	}
	for (uint64_t n = 0; n < count; n++)
		for (size_t i = 0; i < of->nruns && rc == MPI_SUCCESS; i++)
			rc = add_run(s, of->run[i]);
	return rc;
}

static int add_content(struct zsignature *s, const struct zcontent *c, uint64_t size)
{
	int rc = MPI_SUCCESS;

	if (c->combiner == MPI_COMBINER_STRUCT || c->combiner == MPI_COMBINER_STRUCT_INTEGER) {
		for (MPI_Count i = 0; i < c->ntypes && rc == MPI_SUCCESS; i++) {
			MPI_Count n = c->ncounts > 0 ? c->counts[1 + i] : c->ints[1 + i];
			rc = add_type(s, c->types[i], (uint64_t)n);
		}
		return rc;
	}
	/* All other constructors repeat one type. */
	MPI_Count old_size = 0;
	rc = zn.Type_size_c(c->types[0], &old_size);
	return rc == MPI_SUCCESS && old_size > 0 ? add_type(s, c->types[0], size / (uint64_t)old_size) : rc;
}

static int add_type(struct zsignature *s, MPI_Datatype t, uint64_t count)
{
	struct zsignature one = {0};
	struct zcontent c;
	MPI_Count size = 0;
	int rc = zn.Type_size_c(t, &size);

	if (rc != MPI_SUCCESS || size == 0 || count == 0)
		return rc;
	rc = zcontent_read(&c, t);
	if (rc != MPI_SUCCESS)
		return rc;
	if (!c.named)
		rc = add_content(&one, &c, (uint64_t)size);
	else if (c.combiner == MPI_COMBINER_F90_COMPLEX)
		rc = add_numbers(&one, (size_t)size / 2, 2);
	else
		rc = add_named(&one, t, (uint64_t)size);
	zcontent_free(&c);
	if (rc == MPI_SUCCESS)
		rc = add_copies(s, &one, count);
	zsignature_free(&one);
	return rc;
}

int zsignature_make(struct zsignature *s, MPI_Datatype t)
{
	memset(s, 0, sizeof(*s));
	int rc = add_type(s, t, 1);
	if (rc != MPI_SUCCESS)
		zsignature_free(s);
	return rc;
}

void zsignature_free(struct zsignature *s)
{
	free(s->run);
	memset(s, 0, sizeof(*s));
}

static bool is_little(void)
{
	const uint16_t one = 1;

	return *(const uint8_t *)&one == 1;
}

/* Copies one number of `from` bytes in one byte order to `to` bytes in the other. Widths differ for integers only. */
static void convert(uint8_t *out, size_t to, bool to_little, const uint8_t *in, size_t from, bool from_little,
	bool is_signed)
{
	bool negative = is_signed && (in[from_little ? from - 1 : 0] & 0x80);

	for (size_t i = 0; i < to; i++) { /* i: significance of the byte */
		uint8_t byte = negative ? 0xff : 0;
		if (i < from)
			byte = in[from_little ? i : from - 1 - i];
		out[to_little ? i : to - 1 - i] = byte;
	}
}

void zsignature_encode(const struct zsignature *s, uint8_t *wire, const uint8_t *native, uint64_t count)
{
	bool little = is_little();

	for (uint64_t n = 0; n < count; n++) {
		for (size_t i = 0; i < s->nruns; i++) {
			const struct zsignature_run *r = &s->run[i];
			for (uint64_t k = 0; k < r->count; k++, wire += r->wire, native += r->native)
				convert(wire, r->wire, false, native, r->native, little, r->is_signed);
		}
	}
}

/* The numbers of the run that are whole in the bytes left. */
static uint64_t whole_numbers(const struct zsignature_run *r, uint64_t left)
{
	return left / r->wire < r->count ? left / r->wire : r->count;
}

uint64_t zsignature_decode(const struct zsignature *s, uint8_t *native, const uint8_t *wire, uint64_t left)
{
	const uint8_t *begin = wire;
	bool little = is_little();

	while (left > 0 && s->nruns > 0) {
		for (size_t i = 0; i < s->nruns; i++) {
			const struct zsignature_run *r = &s->run[i];
			uint64_t n = whole_numbers(r, left);
			for (uint64_t k = 0; k < n; k++, wire += r->wire, native += r->native)
				convert(native, r->native, little, wire, r->wire, false, r->is_signed);
			left -= n * r->wire;
			if (n < r->count)
				return (uint64_t)(wire - begin);
		}
	}
	return (uint64_t)(wire - begin);
}

uint64_t zsignature_native_bytes(const struct zsignature *s, uint64_t left)
{
	uint64_t bytes;

	if (s->wire_bytes == 0)
		return 0;
	bytes = left / s->wire_bytes * s->native_bytes;
	left %= s->wire_bytes;
	for (size_t i = 0; i < s->nruns && left > 0; i++) {
		uint64_t n = whole_numbers(&s->run[i], left);
		bytes += n * s->run[i].native;
		left -= n * s->run[i].wire;
		if (n < s->run[i].count)
			break;
	}
	return bytes;
}
