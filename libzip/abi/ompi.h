/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI 4 to 6, for libzip/abi/abi.h. A handle is the address of an object. Predefined handles are addresses of
 * objects of the library, which the dynamic linker puts into this library (libzip/loader/rebind.h).
 */
#ifndef ZIP_LIBZIP_OMPI_H
#define ZIP_LIBZIP_OMPI_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libzip/abi/ompi_newer.h"
#include "libzip/abi/pointer.h"
#include "libzip/abi/version.h"

/* --- handles --- */

/* Objects are tens of bytes or more, and often of the same size. */
#define zabi_hash(handle) ((uint32_t)((uintptr_t)(handle) >> 5 ^ (uintptr_t)(handle) >> 14))

/* The first Fortran handle that is asked for maps memory behind the own handles that Fortran functions read
 * (libzip/abi/ompi_fortran.h). By the number of a handle, where they read; NULL: no Fortran handle has been asked for.
 */
extern MPI_Fint *zabi_fortran_requests, *zabi_fortran_groups;
#define ZABI_FORTRAN_READS 1

static inline void zabi_fortran_write(MPI_Fint *table, uint32_t id)
{
	if (__builtin_expect(table != NULL, 0))
		table[id] = ZABI_FORTRAN + (MPI_Fint)id;
}

static inline MPI_Request zabi_own_request(uint32_t id)
{
	zabi_fortran_write(zabi_fortran_requests, id);
	return (MPI_Request)zabi_own_address(ZABI_OWN_REQUESTS, id);
}
static inline MPI_Group zabi_own_group(uint32_t id)
{
	zabi_fortran_write(zabi_fortran_groups, id);
	return (MPI_Group)zabi_own_address(ZABI_OWN_GROUPS, id);
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

static inline bool zabi_takes_errors(int version)
{
	(void)version;
	return false;
}
#define ZABI_HANDLERS_HAVE_STATE 0

#define ZABI_RAISES_ON_OWN 1
#define ZABI_BSEND_MAY_FAIL 0

/* --- constants --- */

#define ZABI_UNWEIGHTED MPI_UNWEIGHTED

/* --- datatypes --- */

static inline bool zabi_type_is_predefined(MPI_Datatype type)
{
	(void)type;
	return false;
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
