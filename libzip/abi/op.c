/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of predefined operations, for families whose handles are not MPICH's. See libzip/abi/abi.h. */
#include <stddef.h>

#include "libzip/abi/abi.h"

static const struct {
	MPI_Op op;
	uint32_t number; /* MPICH's handle */
} ops[] = {
	{MPI_SUM, 0x58000003},
	{MPI_MAX, 0x58000001},
	{MPI_MIN, 0x58000002},
	{MPI_PROD, 0x58000004},
	{MPI_LAND, 0x58000005},
	{MPI_BAND, 0x58000006},
	{MPI_LOR, 0x58000007},
	{MPI_BOR, 0x58000008},
	{MPI_LXOR, 0x58000009},
	{MPI_BXOR, 0x5800000a},
	{MPI_MINLOC, 0x5800000b},
	{MPI_MAXLOC, 0x5800000c},
	{MPI_REPLACE, 0x5800000d},
	{MPI_NO_OP, 0x5800000e},
};
#define N (sizeof(ops) / sizeof(ops[0]))

uint32_t zabi_op_number(MPI_Op op)
{
	for (size_t i = 0; i < N; i++)
		if (ops[i].op == op)
			return ops[i].number;
	return 0;
}

MPI_Op zabi_op_of(uint32_t number)
{
	for (size_t i = 0; i < N; i++)
		if (ops[i].number == number)
			return ops[i].op;
	return MPI_OP_NULL;
}
