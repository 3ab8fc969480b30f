/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of libzip/abi/abi.h that families with pointers as handles share. A handle is the address of an
 * object, or a number that the library knows.
 */
#ifndef ZIP_LIBZIP_POINTER_H
#define ZIP_LIBZIP_POINTER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define zabi_bits(handle) ((uint64_t)(uintptr_t)(handle))

/* --- own handles --- */

/* Own handles are addresses, 4 bytes apart, in ranges where processes hardly ever have memory. */
#define ZABI_ID_MAX 0x03ffffffu
#define ZABI_OWN_BYTES (((uintptr_t)ZABI_ID_MAX + 1) * sizeof(int))
#define ZABI_OWN_REQUESTS ((uintptr_t)0x1f5a00000000)
#define ZABI_OWN_GROUPS ((uintptr_t)0x1f5b00000000)
#define ZABI_OWN_MESSAGES ((uintptr_t)0x1f5c00000000)
#define ZABI_FORTRAN 0x40000000 /* as an integer, number 0 */

static inline uintptr_t zabi_own_address(uintptr_t first, uint32_t id)
{
	return first + id * sizeof(int);
}
static inline bool zabi_is_own_address(uintptr_t first, uintptr_t address)
{
	return address - first < ZABI_OWN_BYTES;
}
static inline uint32_t zabi_own_id(uintptr_t first, uintptr_t address)
{
	return (uint32_t)((address - first) / sizeof(int));
}

static inline bool zabi_is_own_request(MPI_Request handle)
{
	return zabi_is_own_address(ZABI_OWN_REQUESTS, (uintptr_t)handle);
}
static inline uint32_t zabi_own_request_id(MPI_Request handle)
{
	return zabi_own_id(ZABI_OWN_REQUESTS, (uintptr_t)handle);
}

static inline MPI_Message zabi_own_message(uint32_t id)
{
	return (MPI_Message)zabi_own_address(ZABI_OWN_MESSAGES, id);
}
static inline bool zabi_is_own_message(MPI_Message handle)
{
	return zabi_is_own_address(ZABI_OWN_MESSAGES, (uintptr_t)handle);
}
static inline uint32_t zabi_own_message_id(MPI_Message handle)
{
	return zabi_own_id(ZABI_OWN_MESSAGES, (uintptr_t)handle);
}

static inline uint32_t zabi_own_group_id(MPI_Group handle)
{
	return zabi_is_own_address(ZABI_OWN_GROUPS, (uintptr_t)handle) ? zabi_own_id(ZABI_OWN_GROUPS, (uintptr_t)handle)
								       : 0;
}

/* --- error classes, operations, datatypes --- */

int zabi_class_number(int class);
int zabi_class_of(int number);

uint32_t zabi_op_number(MPI_Op op);
MPI_Op zabi_op_of(uint32_t number);

static inline bool zabi_op_is_predefined(MPI_Op op)
{
	return zabi_op_number(op) != 0;
}
static inline bool zabi_op_is_valid(MPI_Op op)
{
	return (uintptr_t)op != 0 && op != MPI_OP_NULL;
}

static inline bool zabi_type_is_valid(MPI_Datatype type)
{
	return (uintptr_t)type != 0 && type != MPI_DATATYPE_NULL;
}

#endif
