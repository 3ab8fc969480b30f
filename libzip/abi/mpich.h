/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI of MPICH, for libzip/abi/abi.h. A handle is an int. Its two highest bits tell how the object is stored (0:
 * not at all, 1: in the handle itself, 2 and 3: in a table), the next four its kind. MPICH numbers objects of a kind
 * from the low bits on.
 */
#ifndef ZIP_LIBZIP_MPICH_H
#define ZIP_LIBZIP_MPICH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/abi/mpich_code.h"
#include "libzip/abi/mpich_newer.h"
#include "libzip/abi/version.h"

/* --- handles --- */

#define zabi_bits(handle) ((uint64_t)(uint32_t)(handle))
#define zabi_hash(handle) ((uint32_t)(handle))

#define ZABI_STORAGE(handle) ((uint32_t)(handle) >> 30)
#define ZABI_KIND(handle) ((uint32_t)(handle) >> 26 & 0xfu)
enum { ZABI_KIND_DATATYPE = 3, ZABI_KIND_OP = 6 };

/*
 * Own requests and messages are 0x2c000001 .. 0x2fffffff: not stored, of the kind of requests, but for
 * MPI_REQUEST_NULL, 0x2c000000, handles that MPICH never issues. MPI_MESSAGE_NULL is the same number. Own groups follow
 * MPI_GROUP_NULL, likewise.
 */
#define ZABI_ID_MAX 0x03ffffffu
#define ZABI_OWN 0x2c000000u

static inline MPI_Request zabi_own_request(uint32_t id)
{
	return (MPI_Request)(ZABI_OWN | id);
}
static inline bool zabi_is_own_request(MPI_Request handle)
{
	return ((uint32_t)handle & ~ZABI_ID_MAX) == ZABI_OWN && handle != MPI_REQUEST_NULL;
}
static inline uint32_t zabi_own_request_id(MPI_Request handle)
{
	return (uint32_t)handle & ZABI_ID_MAX;
}

static inline MPI_Message zabi_own_message(uint32_t id)
{
	return (MPI_Message)zabi_own_request(id);
}
static inline bool zabi_is_own_message(MPI_Message handle)
{
	return zabi_is_own_request((MPI_Request)handle);
}
static inline uint32_t zabi_own_message_id(MPI_Message handle)
{
	return zabi_own_request_id((MPI_Request)handle);
}

static inline MPI_Group zabi_own_group(uint32_t id)
{
	return (MPI_Group)((uint32_t)MPI_GROUP_NULL + id);
}
static inline uint32_t zabi_own_group_id(MPI_Group handle)
{
	const uint32_t id = (uint32_t)handle - (uint32_t)MPI_GROUP_NULL;

	return id <= ZABI_ID_MAX ? id : 0;
}

/* --- statuses --- */

/* A count has 63 bits: the low 32, then the high 31 above the bit that says whether the operation was cancelled. */
static inline void zabi_status_count(MPI_Status *status, MPI_Count bytes, bool cancelled)
{
	status->count_lo = (int)(uint32_t)bytes;
	status->count_hi_and_cancelled = (int)((uint32_t)((uint64_t)bytes >> 32) << 1 | (cancelled ? 1u : 0u));
}
static inline void zabi_status_cancel(MPI_Status *status)
{
	status->count_hi_and_cancelled |= 1;
}

/* --- errors --- */

static inline int zabi_error_class(int code)
{
	return (int)((unsigned)code & ZABI_ERROR_CLASS_MASK);
}
static inline bool zabi_error_is_added(int code)
{
	return (code & ZABI_ERROR_ADDED) != 0;
}
static inline int zabi_error_for_native(int code)
{
	return code;
}

static inline bool zabi_takes_errors(int version)
{
	return version >= ZVERSION(5, 0, 0);
}
#define ZABI_HANDLERS_HAVE_STATE 1

#define ZABI_RAISES_ON_OWN 0
#define ZABI_BSEND_MAY_FAIL 1

static inline int zabi_class_number(int class)
{
	return class >= 0 && class <= 0x7f ? class : MPI_ERR_OTHER;
}
static inline int zabi_class_of(int number)
{
	return zabi_class_number(number);
}
static inline bool zabi_error_is_plain(int code)
{
	return code <= MPICH_ERR_LAST_MPIX;
}

/* --- operations, datatypes --- */

static inline bool zabi_op_is_predefined(MPI_Op op)
{
	return ZABI_STORAGE(op) == 1 && ZABI_KIND(op) == ZABI_KIND_OP;
}
static inline bool zabi_op_is_valid(MPI_Op op)
{
	return ZABI_STORAGE(op) != 0 && ZABI_KIND(op) == ZABI_KIND_OP && op != MPI_OP_NULL;
}

/* The numbers of operations between parts are MPICH's handles. */
static inline uint32_t zabi_op_number(MPI_Op op)
{
	return (uint32_t)op;
}
static inline MPI_Op zabi_op_of(uint32_t number)
{
	return (MPI_Op)number;
}

static inline bool zabi_type_is_predefined(MPI_Datatype type)
{
	return ZABI_STORAGE(type) == 1;
}
static inline bool zabi_type_is_valid(MPI_Datatype type)
{
	return ZABI_STORAGE(type) != 0 && ZABI_KIND(type) == ZABI_KIND_DATATYPE && type != MPI_DATATYPE_NULL;
}

static inline bool zabi_has_newer_types(int version)
{
	return version >= ZVERSION(5, 0, 0);
}

/* --- types of split --- */

static inline bool zabi_is_own_split(int type)
{
	(void)type;
	return false;
}

#endif
