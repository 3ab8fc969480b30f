/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes as bytes on the wire: which are one piece of memory, packing, parts of elements, external32. */
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/type/data.h"
#include "libzip/world/handlers.h"
#include "libzip/world/world.h"

struct zworld zworld;

void zhandlers_hush_home(void)
{
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

void zhandlers_unhush_home(void)
{
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static MPI_Datatype committed(MPI_Datatype t)
{
	MPI_Type_commit(&t);
	return t;
}

/* Is the type dense, and from which displacement? Frees it. */
static void check_dense(MPI_Datatype t, bool dense, MPI_Count start)
{
	const struct ztype *z = ztype_find(t);

	assert_int_equal(z->dense, dense);
	if (dense)
		assert_int_equal(z->start, start);
	ztype_forget(t);
	MPI_Type_free(&t);
}

static void test_builtin(void **state)
{
	const MPI_Datatype dense[] = {MPI_BYTE, MPI_CHAR, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_BOOL, MPI_2INT,
		MPI_PACKED, MPI_FLOAT_INT, MPI_C_DOUBLE_COMPLEX};
	const MPI_Datatype gaps[] = {MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};

	(void)state;
	for (size_t i = 0; i < sizeof(dense) / sizeof(dense[0]); i++)
		assert_true(ztype_find(dense[i])->dense);
	for (size_t i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		char buf[64];
		struct zdata d;
		assert_int_equal(zdata_view(&d, buf, 2, gaps[i]), MPI_SUCCESS);
		assert_null(d.dense);
	}
	assert_false(ztype_find(MPI_SHORT_INT)->dense); /* the gap is inside */
	assert_int_equal(ztype_check(MPI_DATATYPE_NULL), MPI_ERR_TYPE);
	assert_int_equal(ztype_check((MPI_Datatype)MPI_COMM_WORLD), MPI_ERR_TYPE);
	assert_int_equal(ztype_check(0), MPI_ERR_TYPE);
	assert_int_equal(ztype_check(MPI_DOUBLE_INT), MPI_SUCCESS);
}

/* A type may be asked about before it is committed; what is said then is not kept. */
static void test_committed(void **state)
{
	MPI_Datatype t;

	(void)state;
	assert_true(ztype_is_committed(MPI_INT));
	assert_true(ztype_is_committed(MPI_DOUBLE_INT));
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	assert_false(ztype_is_committed(t));
	assert_int_equal(ztype_find(t)->size, 8);
	assert_false(ztype_is_committed(t));
	MPI_Type_commit(&t);
	assert_true(ztype_is_committed(t));
	assert_true(ztype_find(t)->valid);
	ztype_forget(t);
	MPI_Type_free(&t);
}

static void test_constructed(void **state)
{
	MPI_Datatype t, u;
	int two[] = {2, 2}, forth[] = {0, 2}, back[] = {2, 0}, shifted[] = {3, 5}, sizes[] = {4, 6}, sub[] = {2, 3},
	    starts[] = {1, 1};
	MPI_Aint bytes[] = {-8, 0};
	MPI_Datatype int_double[] = {MPI_INT, MPI_DOUBLE}, doubles[] = {MPI_DOUBLE, MPI_DOUBLE};
	int one[] = {1, 1};
	MPI_Aint gap[] = {0, 8};

	(void)state;
	MPI_Type_contiguous(5, MPI_INT, &t);
	check_dense(t, true, 0);
	MPI_Type_contiguous(0, MPI_INT, &t);
	check_dense(t, true, 0);
	MPI_Type_contiguous(2, MPI_DOUBLE_INT, &t);
	check_dense(t, false, 0);
	MPI_Type_vector(3, 2, 2, MPI_INT, &t);
	check_dense(t, true, 0);
	MPI_Type_vector(3, 2, 3, MPI_INT, &t);
	check_dense(t, false, 0);
	MPI_Type_vector(3, 1, -1, MPI_INT, &t);
	check_dense(t, false, 0);
	MPI_Type_vector(1, 7, 100, MPI_INT, &t);
	check_dense(t, true, 0);
	MPI_Type_indexed(2, two, forth, MPI_INT, &t);
	check_dense(t, true, 0);
	MPI_Type_indexed(2, two, back, MPI_INT, &t); /* all there, but in another order */
	check_dense(t, false, 0);
	MPI_Type_create_indexed_block(2, 2, shifted, MPI_INT, &t);
	check_dense(t, true, 12);
	MPI_Type_create_hindexed(2, two, bytes, MPI_INT, &t);
	check_dense(t, true, -8);
	MPI_Type_create_hvector(4, 1, 8, MPI_DOUBLE, &t);
	check_dense(t, true, 0);
	MPI_Type_create_struct(2, one, gap, int_double, &t);
	check_dense(t, false, 0);
	MPI_Type_create_struct(2, one, gap, doubles, &t);
	check_dense(t, true, 0);
	MPI_Type_create_resized(MPI_INT, -4, 16, &t);
	assert_false(ztype_find(t)->extent == 4);
	check_dense(t, true, 0);
	MPI_Type_dup(MPI_INT, &t);
	check_dense(t, true, 0);
	MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_C, MPI_INT, &t);
	check_dense(t, false, 0);
	MPI_Type_contiguous(3, MPI_INT, &u);
	MPI_Type_vector(2, 1, 1, u, &t);
	MPI_Type_free(&u);
	check_dense(t, true, 0);
	MPI_Type_contiguous_c(5, MPI_INT, &t); /* large-count constructors are not looked into */
	check_dense(t, false, 0);
}

static void test_handle_reuse(void **state)
{
	MPI_Datatype t;

	(void)state;
	MPI_Type_vector(2, 1, 2, MPI_INT, &t);
	assert_false(ztype_find(t)->dense);
	ztype_forget(t);
	MPI_Type_free(&t);
	MPI_Type_contiguous(2, MPI_INT, &t);
	assert_true(ztype_find(t)->dense);
	ztype_forget(t);
	MPI_Type_free(&t);
}

/* Messages that end within an element of a type with gaps: only whole predefined elements come. ends: where these end.
 */
static void check_ends(MPI_Datatype t, const int *ends, size_t nends)
{
	const uint64_t size = (uint64_t)ends[nends - 1];
	uint8_t wire[64], got[128];

	memset(wire, 1, sizeof(wire));
	for (uint64_t n = 0; n <= 2 * size; n++) {
		uint64_t whole = n / size * size, ones = 0, rest = n % size;
		for (size_t i = 0; i < nends && (uint64_t)ends[i] <= rest; i++)
			whole = n / size * size + (uint64_t)ends[i];
		memset(got, 0, sizeof(got));
		assert_int_equal(zdata_unpack(wire, n, got, 2, t), whole == n ? MPI_SUCCESS : MPI_ERR_TYPE);
		for (size_t i = 0; i < sizeof(got); i++)
			ones += got[i];
		assert_int_equal(ones, whole);
		assert_int_equal(zdata_native_bytes(t, n), whole);
	}
	ztype_forget(t);
}

static void test_ends(void **state)
{
	const int lengths[] = {1, 2, 1}, at[] = {1, 3, 6}, ints[] = {4, 8, 12, 16}, one[] = {12};
	const int mixed[] = {2, 10, 18, 19};
	const MPI_Aint bytes_at[] = {0, 8, 30}, pair_at[] = {0, 8};
	MPI_Datatype of[] = {MPI_SHORT, MPI_DOUBLE, MPI_CHAR}, pair[] = {MPI_BYTE, MPI_BYTE}, t, u;

	(void)state;
	MPI_Type_indexed(3, lengths, at, MPI_INT, &t);
	check_ends(t = committed(t), ints, 4);
	MPI_Type_free(&t);
	check_ends(MPI_DOUBLE_INT, one, 1);
	MPI_Type_create_struct(3, lengths, bytes_at, of, &t);
	check_ends(t = committed(t), mixed, 4);
	MPI_Type_free(&t);
	/* datatypes of datatypes, after a block of nothing */
	MPI_Type_vector(2, 1, 3, MPI_INT, &t);
	MPI_Type_create_resized(t, 0, 24, &u);
	MPI_Type_free(&t);
	pair[1] = u;
	MPI_Type_create_struct(2, (int[]){0, 1}, pair_at, pair, &t);
	MPI_Type_free(&u);
	check_ends(t = committed(t), ints, 2);
	MPI_Type_free(&t);
}

/* A random type of bytes over at most 64 bytes, possibly with its blocks in any order. */
static MPI_Datatype random_type(void)
{
	int n = 1 + rand() % 4, len[4], disp[4], at = rand() % 4;
	MPI_Datatype t;

	for (int i = 0; i < n; i++) {
		len[i] = rand() % 5;
		disp[i] = at;
		at += len[i] + (rand() % 2 ? 0 : rand() % 4);
	}
	if (n > 1 && rand() % 3 == 0) {
		int l = len[0], d = disp[0];
		len[0] = len[n - 1];
		disp[0] = disp[n - 1];
		len[n - 1] = l;
		disp[n - 1] = d;
	}
	MPI_Type_indexed(n, len, disp, MPI_BYTE, &t);
	return committed(t);
}

static void check_random(MPI_Datatype t, int count)
{
	uint8_t buf[512], wire[512], got[512], expect[512];
	struct zdata d;
	int size, position = 0, map[512];
	MPI_Aint lb, extent;

	for (int i = 0; i < 512; i++)
		buf[i] = (uint8_t)rand();
	MPI_Type_size(t, &size);
	MPI_Type_get_extent(t, &lb, &extent);
	assert_int_equal(zdata_view(&d, buf, count, t), MPI_SUCCESS);
	assert_int_equal(d.bytes, size * count);
	MPI_Pack(buf, count, t, wire, sizeof(wire), &position, MPI_COMM_SELF);
	if (d.dense)
		assert_memory_equal(d.dense, wire, d.bytes);
	assert_int_equal(zdata_pack(got, d.bytes, buf, count, t), MPI_SUCCESS);
	assert_memory_equal(got, wire, d.bytes);

	/* which buffer byte each wire byte is: found out with single marks */
	for (uint64_t w = 0; w < d.bytes; w++) {
		uint8_t mark[512] = {0}, out[512] = {0};
		mark[w] = 1;
		position = 0;
		MPI_Unpack(mark, (int)d.bytes, &position, out, count, t, MPI_COMM_SELF);
		map[w] = -1;
		for (int i = 0; i < 512; i++)
			if (out[i])
				map[w] = i;
	}
	for (uint64_t n = 0; n <= d.bytes; n++) {
		memset(got, 0x5a, sizeof(got));
		memset(expect, 0x5a, sizeof(expect));
		for (uint64_t w = 0; w < n; w++)
			expect[map[w]] = wire[w];
		assert_int_equal(zdata_unpack(wire, n, got, count, t), MPI_SUCCESS);
		assert_memory_equal(got, expect, sizeof(got));
	}
}

static void test_random(void **state)
{
	(void)state;
	srand(11);
	for (int i = 0; i < 300; i++) {
		MPI_Datatype t = random_type();
		check_random(t, 1 + rand() % 4);
		ztype_forget(t);
		MPI_Type_free(&t);
	}
}

static void test_bottom(void **state)
{
	int x[4] = {1, 2, 3, 4}, y[4] = {0};
	int len[] = {1, 1};
	MPI_Aint at[2];
	MPI_Datatype t, types[] = {MPI_INT, MPI_INT};
	struct zdata d;
	uint8_t wire[8];

	(void)state;
	MPI_Get_address(&x[0], &at[0]);
	MPI_Get_address(&x[2], &at[1]);
	MPI_Type_create_struct(2, len, at, types, &t);
	t = committed(t);
	assert_int_equal(zdata_view(&d, MPI_BOTTOM, 1, t), MPI_SUCCESS);
	assert_null(d.dense);
	assert_int_equal(zdata_pack(wire, 8, MPI_BOTTOM, 1, t), MPI_SUCCESS);
	memcpy(y, wire, 8);
	assert_int_equal(y[0], 1);
	assert_int_equal(y[1], 3);
	x[0] = x[2] = 0;
	assert_int_equal(zdata_unpack(wire, 4, MPI_BOTTOM, 1, t), MPI_SUCCESS);
	assert_int_equal(x[0], 1);
	assert_int_equal(x[2], 0);
	assert_int_equal(zdata_unpack(wire, 8, MPI_BOTTOM, 1, t), MPI_SUCCESS);
	assert_int_equal(x[2], 3);
	ztype_forget(t);
	MPI_Type_free(&t);

	MPI_Get_address(&x[1], &at[0]);
	MPI_Get_address(&x[2], &at[1]);
	MPI_Type_create_struct(2, len, at, types, &t);
	t = committed(t);
	assert_int_equal(zdata_view(&d, MPI_BOTTOM, 1, t), MPI_SUCCESS);
	assert_ptr_equal(d.dense, &x[1]);
	ztype_forget(t);
	MPI_Type_free(&t);
}

static void test_external32(void **state)
{
	const int in[3] = {1, -2, 0x01020304};
	const uint8_t big[] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe, 1, 2, 3, 4};
	uint8_t wire[64];
	int out[3] = {7, 7, 7};
	long l[2] = {5, -6}, back[2] = {0, 0};
	struct zdata d;

	(void)state;
	zworld.external32 = true;
	ztype_forget(MPI_INT);
	ztype_forget(MPI_LONG);
	assert_int_equal(zdata_view(&d, in, 3, MPI_INT), MPI_SUCCESS);
	assert_null(d.dense);
	assert_int_equal(d.bytes, 12);
	assert_int_equal(zdata_pack(wire, 12, in, 3, MPI_INT), MPI_SUCCESS);
	assert_memory_equal(wire, big, 12);
	assert_int_equal(zdata_unpack(wire, 8, out, 3, MPI_INT), MPI_SUCCESS);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[1], -2);
	assert_int_equal(out[2], 7);
	assert_int_equal(zdata_view(&d, l, 2, MPI_LONG), MPI_SUCCESS);
	assert_int_equal(zdata_pack(wire, d.bytes, l, 2, MPI_LONG), MPI_SUCCESS);
	assert_int_equal(zdata_unpack(wire, d.bytes, back, 2, MPI_LONG), MPI_SUCCESS);
	assert_memory_equal(back, l, sizeof(l));
	assert_int_equal(zdata_native_bytes(MPI_LONG, d.bytes), sizeof(l));
	assert_int_equal(zdata_native_bytes(MPI_LONG, d.bytes - 1), sizeof(long)); /* half a number is none */
	zworld.external32 = false;
	ztype_forget(MPI_INT);
	ztype_forget(MPI_LONG);
}

/* Everything comes back, and one element more than was sent is left alone. */
static void check_converted(MPI_Datatype t, const char *name)
{
	uint8_t in[1024], out[1024], wire[2048], before[512], after[512];
	int count = 3, size, pos_in = 0, pos_out = 0;
	struct zdata d;

	ztype_forget(t);
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)rand();
	memset(out, 0x5a, sizeof(out));
	MPI_Type_size(t, &size);
	assert_int_equal(zdata_view(&d, in, count, t), MPI_SUCCESS);
	assert_true(d.bytes <= sizeof(wire));
	if (d.dense)
		memcpy(wire, d.dense, d.bytes);
	else
		assert_int_equal(zdata_pack(wire, d.bytes, in, count, t), MPI_SUCCESS);
	assert_int_equal(zdata_unpack(wire, d.bytes, out, count + 1, t), MPI_SUCCESS);
	assert_int_equal(zdata_native_bytes(t, d.bytes), size * count);
	MPI_Pack(in, count, t, before, sizeof(before), &pos_in, MPI_COMM_SELF);
	MPI_Pack(out, count, t, after, sizeof(after), &pos_out, MPI_COMM_SELF);
	if (memcmp(before, after, (size_t)(size * count)) != 0)
		fail_msg("%s does not come back", name);
	ztype_forget(t);
}

static void test_all_converted(void **state)
{
	const MPI_Datatype named[] = {MPI_CHAR, MPI_WCHAR, MPI_SHORT, MPI_INT, MPI_UNSIGNED_LONG, MPI_LONG, MPI_FLOAT,
		MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_BOOL, MPI_INT64_T, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
		MPI_C_LONG_DOUBLE_COMPLEX, MPI_AINT, MPI_COUNT, MPI_2INT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT,
		MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_BYTE, MPI_PACKED};
	MPI_Datatype t, of[] = {MPI_SHORT, MPI_DOUBLE_INT, MPI_LONG};
	int len[] = {3, 2, 1}, sizes[] = {4, 4}, sub[] = {2, 3}, starts[] = {1, 0};
	MPI_Aint disp[] = {2, 16, 48};
	char name[MPI_MAX_OBJECT_NAME];
	int n;

	(void)state;
	zworld.external32 = true;
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		MPI_Type_get_name(named[i], name, &n);
		check_converted(named[i], name);
	}
	MPI_Type_create_struct(3, len, disp, of, &t);
	check_converted(t = committed(t), "struct");
	MPI_Datatype u;
	MPI_Type_vector(2, 1, 2, t, &u);
	MPI_Type_free(&t);
	check_converted(u = committed(u), "vector of struct");
	MPI_Type_free(&u);
	MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_FORTRAN, MPI_INT, &t);
	check_converted(t = committed(t), "subarray");
	MPI_Type_free(&t);
	MPI_Type_contiguous(0, MPI_INT, &t);
	check_converted(t = committed(t), "nothing");
	MPI_Type_free(&t);
	MPI_Type_create_f90_real(15, MPI_UNDEFINED, &t);
	check_converted(t, "Fortran real");
	MPI_Type_vector_c(2, 1, 2, MPI_LONG, &t);
	check_converted(t = committed(t), "large-count vector");
	MPI_Type_free(&t);
	zworld.external32 = false;
}

/* Between a part with 4-byte long and one with 8-byte long. */
static void test_widths(void **state)
{
	const uint8_t wire[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 0, 0, 0, 0, 7};
	struct zsignature_run run = {.native = 4, .wire = 8, .is_signed = 1, .count = 2};
	struct zsignature s = {.run = &run, .nruns = 1, .native_bytes = 8, .wire_bytes = 16};
	int32_t narrow[2] = {0, 0};
	uint8_t out[16];

	(void)state;
	assert_int_equal(zsignature_decode(&s, (uint8_t *)narrow, wire, sizeof(wire)), sizeof(wire));
	assert_int_equal(zsignature_decode(&s, (uint8_t *)narrow, wire, sizeof(wire) - 1),
		8); /* half a number is none */
	assert_int_equal(narrow[0], -2);
	assert_int_equal(narrow[1], 7);
	zsignature_encode(&s, out, (uint8_t *)narrow, 1);
	assert_memory_equal(out, wire, sizeof(wire));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_builtin),
		cmocka_unit_test(test_committed),
		cmocka_unit_test(test_constructed),
		cmocka_unit_test(test_handle_reuse),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_bottom),
		cmocka_unit_test(test_external32),
		cmocka_unit_test(test_all_converted),
		cmocka_unit_test(test_widths),
	};

	MPI_Init(&argc, &argv);
	zworld.base = MPI_COMM_WORLD;
	int rc = cmocka_run_group_tests_name("datatype", tests, NULL, NULL);
	MPI_Finalize();
	return rc;
}
