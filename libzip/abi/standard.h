/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The standard ABI (MPI-5.0 chapter 20), for libzip/abi/abi.h. A predefined handle is a number, and any other one the
 * address of an object or whatever the library likes. MPICH 5 and Open MPI 6 have a library of this ABI. What it leaves
 * to them is asked of the running one: where a status has its count, and how error codes are made.
 */
#ifndef ZIP_LIBZIP_STANDARD_H
#define ZIP_LIBZIP_STANDARD_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/abi/mpich_code.h"
#include "libzip/abi/pointer.h"
#include "libzip/abi/standard_newer.h"
#include "libzip/abi/version.h"

/* --- handles --- */

/* Predefined handles are below it. */
#define ZABI_OBJECTS ((uintptr_t)0x1000)
#define zabi_hash(handle)                                                                                              \
	((uint32_t)((uintptr_t)(handle) < ZABI_OBJECTS ? (uintptr_t)(handle)                                           \
						       : (uintptr_t)(handle) >> 5 ^ (uintptr_t)(handle) >> 14))

static inline MPI_Request zabi_own_request(uint32_t id)
{
	return (MPI_Request)zabi_own_address(ZABI_OWN_REQUESTS, id);
}
static inline MPI_Group zabi_own_group(uint32_t id)
{
	return (MPI_Group)zabi_own_address(ZABI_OWN_GROUPS, id);
}

/* The ABI has no Fortran functions. */
#define ZABI_FORTRAN_READS 0

/* --- what the running library decides --- */

/* Where MPI_internal has the count, as two halves, the upper one shifted, and whether the operation was cancelled. */
struct zabi_status {
	unsigned low, high, high_shift, cancelled;
};
extern struct zabi_status zabi_status;
extern atomic_bool zabi_is_mpich; /* set by zversion_read */

#define ZABI_LEARNS 1

/* --- statuses --- */

static inline void zabi_status_count(MPI_Status *status, MPI_Count bytes, bool cancelled)
{
	const struct zabi_status *at = &zabi_status;

	status->MPI_internal[at->cancelled] = 0;
	status->MPI_internal[at->low] = (int)(uint32_t)bytes;
	status->MPI_internal[at->high] = (int)((uint32_t)((uint64_t)bytes >> 32) << at->high_shift);
	status->MPI_internal[at->cancelled] |= cancelled;
}
static inline void zabi_status_cancel(MPI_Status *status)
{
	status->MPI_internal[zabi_status.cancelled] |= 1;
}

/* --- errors --- */

/*
 * Classes are small numbers. The codes of Open MPI are classes. MPICH's carry more than a class. Ours have the form of
 * mpich_code.h, which MPICH never makes. Open MPI counts what the application adds from MPI_ERR_LASTCODE
 * on, MPICH sets bit 30.
 */
static inline bool zabi_error_is_plain(int code)
{
	return code >= 0 && code <= (int)ZABI_ERROR_CLASS_MASK;
}
static inline int zabi_error_class(int code)
{
	if (zabi_error_text(code) >= 0)
		return (int)((unsigned)code & ZABI_ERROR_CLASS_MASK);
	return zabi_error_is_plain(code) ? code : -1;
}
static inline bool zabi_error_is_added(int code)
{
	if (zabi_is_mpich)
		return (code & ZABI_ERROR_ADDED) != 0;
	return code > MPI_ERR_LASTCODE && zabi_error_text(code) < 0;
}
static inline int zabi_error_for_native(int code)
{
	return zabi_error_text(code) >= 0 ? zabi_error_class(code) : code;
}

static inline bool zabi_takes_errors(int version)
{
	return zabi_is_mpich && version >= ZVERSION(5, 0, 0);
}
#define ZABI_HANDLERS_HAVE_STATE 0

#define ZABI_RAISES_ON_OWN (!zabi_is_mpich)
#define ZABI_BSEND_MAY_FAIL zabi_is_mpich

/* --- constants --- */

#define ZABI_UNWEIGHTED MPI_UNWEIGHTED

/* --- datatypes --- */

static inline bool zabi_type_is_predefined(MPI_Datatype type)
{
	return (uintptr_t)type < ZABI_OBJECTS;
}

static inline bool zabi_has_newer_types(int version)
{
	(void)version;
	return true;
}

/* --- types of split --- */

static inline bool zabi_is_own_split(int type)
{
	(void)type;
	return false;
}

#endif
