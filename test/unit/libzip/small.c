/* SPDX-License-Identifier: BSD-3-Clause */
/* The small forms, called as if the native library had no large counts, beside what that library itself answers. */
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/shim/native.h"
#include "libzip/shim/resolve.h"
#include "libzip/shim/small.h"

#define BEYOND ((MPI_Count)5 << 30)

/* zn with the small forms in place of what they stand for. The first call of an entry finds all entries. */
static struct znative with_small_forms(void)
{
	struct znative small;
	int flag;

	zn.Initialized(&flag);
	small = zn;
	for (unsigned i = 0; i < znative_count; i++)
		if (zsmall_forms[i])
			memcpy((char *)&small + i * sizeof(void *), &zsmall_forms[i], sizeof(zsmall_forms[i]));
	return small;
}

static struct znative small;

struct shape {
	MPI_Count size, lb, extent, true_lb, true_extent;
};

static struct shape shape_of(MPI_Datatype t)
{
	struct shape s, other;

	small.Type_size_c(t, &s.size);
	small.Type_get_extent_c(t, &s.lb, &s.extent);
	small.Type_get_true_extent_c(t, &s.true_lb, &s.true_extent);
	zn.Type_size_c(t, &other.size);
	zn.Type_get_extent_c(t, &other.lb, &other.extent);
	zn.Type_get_true_extent_c(t, &other.true_lb, &other.true_extent);
	assert_memory_equal(&s, &other, sizeof(s));
	return s;
}

static void check_same(MPI_Datatype mine, MPI_Datatype theirs)
{
	struct shape a = shape_of(mine), b = shape_of(theirs);
	assert_memory_equal(&a, &b, sizeof(a));
	MPI_Type_free(&mine);
	MPI_Type_free(&theirs);
}

static void test_types(void **state)
{
	const MPI_Count blocks[2] = {2, 3}, displs[2] = {8, 40}, sizes[2] = {5, 6}, starts[2] = {1, 2};
	const MPI_Datatype old[2] = {MPI_INT, MPI_DOUBLE};
	MPI_Datatype a, b;

	(void)state;
	zn.Type_create_hindexed_c(2, blocks, displs, MPI_INT, &b);
	assert_int_equal(small.Type_create_hindexed_c(2, blocks, displs, MPI_INT, &a), MPI_SUCCESS);
	check_same(a, b);
	zn.Type_create_struct_c(2, blocks, displs, old, &b);
	assert_int_equal(small.Type_create_struct_c(2, blocks, displs, old, &a), MPI_SUCCESS);
	check_same(a, b);
	zn.Type_create_subarray_c(2, sizes, blocks, starts, MPI_ORDER_C, MPI_INT, &b);
	assert_int_equal(small.Type_create_subarray_c(2, sizes, blocks, starts, MPI_ORDER_C, MPI_INT, &a), MPI_SUCCESS);
	check_same(a, b);
	zn.Type_create_hvector_c(3, 2, BEYOND, MPI_INT, &b); /* bytes are no counts */
	assert_int_equal(small.Type_create_hvector_c(3, 2, BEYOND, MPI_INT, &a), MPI_SUCCESS);
	check_same(a, b);
	zn.Type_create_resized_c(MPI_INT, -8, BEYOND, &b);
	assert_int_equal(small.Type_create_resized_c(MPI_INT, -8, BEYOND, &a), MPI_SUCCESS);
	check_same(a, b);
}

static void test_contents(void **state)
{
	const MPI_Count blocks[2] = {2, 3}, displs[2] = {8, BEYOND};
	MPI_Count ints, aints, counts = -1, types;
	MPI_Datatype t, old;
	MPI_Aint at[2];
	int n[3], combiner;

	(void)state;
	small.Type_create_hindexed_c(2, blocks, displs, MPI_INT, &t);
	assert_int_equal(small.Type_get_envelope_c(t, &ints, &aints, &counts, &types, &combiner), MPI_SUCCESS);
	assert_int_equal(combiner, MPI_COMBINER_HINDEXED);
	assert_int_equal(ints, 3);
	assert_int_equal(aints, 2);
	assert_int_equal(counts, 0);
	assert_int_equal(types, 1);
	assert_int_equal(small.Type_get_contents_c(t, ints, aints, counts, types, n, at, NULL, &old), MPI_SUCCESS);
	assert_int_equal(n[2], 3);
	assert_true(at[1] == BEYOND);
	MPI_Type_free(&t);
}

static int class_of(int rc)
{
	int class;

	MPI_Error_class(rc, &class);
	return class;
}

static void test_beyond(void **state)
{
	const MPI_Count blocks[2] = {1, BEYOND}, displs[2] = {0, 4};
	int data = 0;
	MPI_Count size = 7;
	MPI_Datatype t;
	MPI_Request r;

	(void)state;
	assert_int_equal(class_of(small.Type_contiguous_c(BEYOND, MPI_INT, &t)), MPI_ERR_COUNT);
	assert_int_equal(class_of(small.Type_create_hindexed_c(2, blocks, displs, MPI_INT, &t)), MPI_ERR_COUNT);
	assert_int_equal(class_of(small.Isend_c(&data, BEYOND, MPI_BYTE, 0, 0, MPI_COMM_SELF, &r)), MPI_ERR_COUNT);
	assert_int_equal(class_of(small.Bcast_c(&data, -BEYOND, MPI_BYTE, 0, MPI_COMM_SELF)), MPI_ERR_COUNT);
	/* no value of its own is too large, but the result is */
	assert_int_equal(class_of(small.Pack_size_c(INT32_MAX, MPI_DOUBLE, MPI_COMM_SELF, &size)), MPI_ERR_COUNT);
	assert_int_equal(size, 7);
}

static void test_pack(void **state)
{
	double from[6] = {1, 2, 3, 4, 5, 6}, to[6] = {0};
	char packed[64];
	MPI_Count size, position = 4, back = 4;
	MPI_Datatype gaps;

	(void)state;
	MPI_Type_create_resized(MPI_DOUBLE, 0, 16, &gaps);
	MPI_Type_commit(&gaps);
	assert_int_equal(small.Pack_size_c(3, gaps, MPI_COMM_SELF, &size), MPI_SUCCESS);
	assert_int_equal(size, 24);
	assert_int_equal(small.Pack_c(from, 3, gaps, packed, sizeof(packed), &position, MPI_COMM_SELF), MPI_SUCCESS);
	assert_int_equal(position, 28);
	assert_int_equal(small.Unpack_c(packed, position, &back, to, 3, gaps, MPI_COMM_SELF), MPI_SUCCESS);
	assert_int_equal(back, 28);
	for (int i = 0; i < 6; i++)
		assert_true(to[i] == (i % 2 ? 0 : from[i]));
	MPI_Type_free(&gaps);
}

struct kept {
	void *array[8];
	int n;
};

static void *keep(void *arg, size_t bytes)
{
	struct kept *k = arg;
	assert_true(k->n < 8);
	return k->array[k->n++] = malloc(bytes);
}

static void test_arrays(void **state)
{
	const MPI_Count one[1] = {1};
	const MPI_Aint at[1] = {1};
	int out[2] = {5, 6}, in[2] = {0, 0};
	struct kept kept = {.n = 0};
	const struct zsmall_keeper keeper = {keep, &kept};
	MPI_Request r;

	(void)state;
	assert_int_equal(small.Alltoallv_c(out, one, at, MPI_INT, in, one, at, MPI_INT, MPI_COMM_SELF), MPI_SUCCESS);
	assert_int_equal(in[1], 6);
	/* MPICH 4.0.2 ignores the displacement in a communicator of one */
	assert_int_equal(small.Allgatherv_c(out, 1, MPI_INT, in, one, at, MPI_INT, MPI_COMM_SELF), MPI_SUCCESS);
	assert_true(in[0] == 5 || in[1] == 5);
	/* nobody says where the arrays could stay */
	assert_int_equal(class_of(small.Ialltoallv_c(out, one, at, MPI_INT, in, one, at, MPI_INT, MPI_COMM_SELF, &r)),
		MPI_ERR_UNSUPPORTED_OPERATION);
	zsmall_keeper = &keeper;
	assert_int_equal(small.Ialltoallv_c(out, one, at, MPI_INT, in, one, at, MPI_INT, MPI_COMM_SELF, &r),
		MPI_SUCCESS);
	zsmall_keeper = NULL;
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	assert_int_equal(in[1], 6);
	assert_int_equal(kept.n, 4);
	while (kept.n > 0)
		free(kept.array[--kept.n]);
}

static void test_idup(void **state)
{
	MPI_Info info;
	MPI_Comm copy;
	MPI_Request r;
	int result;

	(void)state;
	MPI_Info_create(&info);
	assert_int_equal(small.Comm_idup_with_info(MPI_COMM_SELF, info, &copy, &r), MPI_SUCCESS);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Comm_compare(MPI_COMM_SELF, copy, &result);
	assert_int_equal(result, MPI_CONGRUENT);
	MPI_Comm_free(&copy);
	MPI_Info_free(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_contents),
		cmocka_unit_test(test_beyond), cmocka_unit_test(test_pack), cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_idup)};

	MPI_Init(NULL, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	small = with_small_forms();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	MPI_Finalize();
	return failed;
}
