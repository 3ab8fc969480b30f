/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI 4, for libzip/abi/abi.h. A handle is the address of an object. Predefined handles are addresses of
 * objects of the library, which the dynamic linker puts into this library (libzip/loader/bind.h).
 */
#ifndef ZIP_LIBZIP_OMPI_H
#define ZIP_LIBZIP_OMPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libzip/abi/ompi_newer.h"
#include "libzip/abi/version.h"

/* --- handles --- */

#define zabi_bits(handle) ((uint64_t)(uintptr_t)(handle))
/* Objects are tens of bytes or more, and often of the same size. */
#define zabi_hash(handle) ((uint32_t)((uintptr_t)(handle) >> 5 ^ (uintptr_t)(handle) >> 14))

/* Own handles are addresses that no process has, as their highest bits are no extension of the bits below. */
#define ZABI_ID_MAX 0x03ffffffu
#define ZABI_OWN UINT64_C(0x5a49000000000000)
#define ZABI_OWN_GROUP UINT64_C(0x5a48000000000000)

static inline MPI_Request zabi_own_request(uint32_t id)
{
	return (MPI_Request)(uintptr_t)(ZABI_OWN | id);
}
static inline bool zabi_is_own_request(MPI_Request handle)
{
	return ((uintptr_t)handle & ~(uintptr_t)ZABI_ID_MAX) == ZABI_OWN;
}
static inline uint32_t zabi_own_request_id(MPI_Request handle)
{
	return (uint32_t)(uintptr_t)handle & ZABI_ID_MAX;
}

static inline MPI_Message zabi_own_message(uint32_t id)
{
	return (MPI_Message)(uintptr_t)(ZABI_OWN | id);
}
static inline bool zabi_is_own_message(MPI_Message handle)
{
	return ((uintptr_t)handle & ~(uintptr_t)ZABI_ID_MAX) == ZABI_OWN;
}
static inline uint32_t zabi_own_message_id(MPI_Message handle)
{
	return (uint32_t)(uintptr_t)handle & ZABI_ID_MAX;
}

static inline MPI_Group zabi_own_group(uint32_t id)
{
	return (MPI_Group)(uintptr_t)(ZABI_OWN_GROUP | id);
}
static inline uint32_t zabi_own_group_id(MPI_Group handle)
{
	const uintptr_t id = (uintptr_t)handle - (uintptr_t)ZABI_OWN_GROUP;

	return id <= ZABI_ID_MAX ? (uint32_t)id : 0;
}

/* --- statuses --- */

static inline void zabi_status_count(MPI_Status *status, MPI_Count bytes, bool cancelled)
{
	status->_ucount = (size_t)bytes;
	status->_cancelled = cancelled;
}
static inline void zabi_status_cancel(MPI_Status *status)
{
	status->_cancelled = 1;
}

/* --- errors --- */

/* Native codes are small numbers: the classes, and behind MPI_ERR_LASTCODE what the application has added. Ours: a
 * mark, the number of the text, the class. */
#define ZABI_ERROR_TEXTS 64u
#define ZABI_ERROR_MARK 0x3c000000
#define ZABI_ERROR_MARK_MASK 0x7fff0000

static inline int zabi_error_code(int class, unsigned text)
{
	return (int)(ZABI_ERROR_MARK | text << 8 | (unsigned)class);
}
static inline int zabi_error_text(int code)
{
	return (code & ZABI_ERROR_MARK_MASK) == ZABI_ERROR_MARK ? (code >> 8 & (int)(ZABI_ERROR_TEXTS - 1)) : -1;
}
static inline int zabi_error_class(int code)
{
	if (zabi_error_text(code) >= 0)
		return code & 0xff;
	return code >= 0 && code <= MPI_ERR_LASTCODE ? code : -1;
}
static inline bool zabi_error_is_added(int code)
{
	return code > MPI_ERR_LASTCODE && zabi_error_text(code) < 0;
}
static inline bool zabi_error_is_plain(int code)
{
	return code <= MPI_ERR_LASTCODE;
}

/* --- constants --- */

#define ZABI_UNWEIGHTED MPI_UNWEIGHTED

/* --- operations, datatypes --- */

uint32_t zabi_op_number(MPI_Op op);
MPI_Op zabi_op_of(uint32_t number);

static inline bool zabi_op_is_predefined(MPI_Op op)
{
	return zabi_op_number(op) != 0;
}
static inline bool zabi_op_is_valid(MPI_Op op)
{
	return op != NULL && op != MPI_OP_NULL;
}

static inline bool zabi_type_is_predefined(MPI_Datatype type)
{
	(void)type;
	return false;
}
static inline bool zabi_type_is_valid(MPI_Datatype type)
{
	return type != NULL && type != MPI_DATATYPE_NULL;
}

static inline bool zabi_has_newer_types(int version)
{
	(void)version;
	return true;
}

#endif
