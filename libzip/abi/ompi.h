/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI 4 and 5, for libzip/abi/abi.h. A handle is the address of an object. Predefined handles are addresses of
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

/* Own handles are addresses, 4 bytes apart, in ranges where processes hardly ever have memory. The first Fortran handle
 * that is asked for maps memory behind those that Fortran functions read (libzip/abi/ompi_fortran.h). */
#define ZABI_ID_MAX 0x03ffffffu
#define ZABI_OWN_BYTES (((uintptr_t)ZABI_ID_MAX + 1) * sizeof(MPI_Fint))
#define ZABI_OWN_REQUESTS ((uintptr_t)0x1f5a00000000)
#define ZABI_OWN_GROUPS ((uintptr_t)0x1f5b00000000)
#define ZABI_OWN_MESSAGES ((uintptr_t)0x1f5c00000000)
#define ZABI_FORTRAN 0x40000000 /* the Fortran handle of number 0 */

/* By the number of a handle, where Fortran functions read; NULL: no Fortran handle has been asked for. */
extern MPI_Fint *zabi_fortran_requests, *zabi_fortran_groups;

static inline uintptr_t zabi_own_address(uintptr_t first, uint32_t id, MPI_Fint *fortran)
{
	if (__builtin_expect(fortran != NULL, 0))
		fortran[id] = ZABI_FORTRAN + (MPI_Fint)id;
	return first + id * sizeof(MPI_Fint);
}
static inline bool zabi_is_own_address(uintptr_t first, uintptr_t address)
{
	return address - first < ZABI_OWN_BYTES;
}
static inline uint32_t zabi_own_id(uintptr_t first, uintptr_t address)
{
	return (uint32_t)((address - first) / sizeof(MPI_Fint));
}

static inline MPI_Request zabi_own_request(uint32_t id)
{
	return (MPI_Request)zabi_own_address(ZABI_OWN_REQUESTS, id, zabi_fortran_requests);
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
	return (MPI_Message)zabi_own_address(ZABI_OWN_MESSAGES, id, NULL);
}
static inline bool zabi_is_own_message(MPI_Message handle)
{
	return zabi_is_own_address(ZABI_OWN_MESSAGES, (uintptr_t)handle);
}
static inline uint32_t zabi_own_message_id(MPI_Message handle)
{
	return zabi_own_id(ZABI_OWN_MESSAGES, (uintptr_t)handle);
}

static inline MPI_Group zabi_own_group(uint32_t id)
{
	return (MPI_Group)zabi_own_address(ZABI_OWN_GROUPS, id, zabi_fortran_groups);
}
static inline uint32_t zabi_own_group_id(MPI_Group handle)
{
	return zabi_is_own_address(ZABI_OWN_GROUPS, (uintptr_t)handle) ? zabi_own_id(ZABI_OWN_GROUPS, (uintptr_t)handle)
								       : 0;
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

static inline int zabi_error_for_native(int code)
{
	return zabi_error_text(code) >= 0 ? zabi_error_class(code) : code;
}

#define ZABI_RAISES_ON_OWN 1
#define ZABI_BSEND_MAY_FAIL 0

int zabi_class_number(int class);
int zabi_class_of(int number);

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

/* --- types of split --- */

static inline bool zabi_is_own_split(int type)
{
	return type >= OMPI_COMM_TYPE_HWTHREAD && type <= OMPI_COMM_TYPE_CLUSTER;
}

#endif
