/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a family of MPI libraries has of its own: the range of its handles, the layout of its statuses, the codes of its
 * errors, types and constants that not all of its versions have. The rest of libzip is written against the MPI standard
 * and this interface. The header of a family has these functions, inline where messages pass:
 *
 *   mpich.h     MPICH and the libraries of its ABI (MPICH ABI Compatibility Initiative)
 *   ompi.h      Open MPI 4 to 6
 *   standard.h  the standard ABI of MPI-5.0
 *
 * Handles of one family are ints, of another one pointers. All functions here may be called by any thread, at any time.
 * With ZABI_LEARNS, statuses need zabi_learn first, and errors zrunning_version (libzip/shim/running.h).
 *
 * zabi_bits(handle)        the handle as a number (uint64_t); different handles of a kind have different numbers
 * zabi_hash(handle)        a number (uint32_t) whose low bits differ among handles that exist at the same time
 *
 * Own handles, which native MPI never issues. id: 1 .. ZABI_ID_MAX.
 * zabi_own_request(id)     the handle of a request; zabi_is_own_request(handle), zabi_own_request_id(handle)
 * zabi_own_message(id)     the same for messages
 * zabi_own_group(id)       the same for groups; zabi_own_group_id(handle) is 0 for a handle that is not ours
 *
 * zabi_status_count(status, bytes, cancelled)  sets what MPI_Get_count and MPI_Test_cancelled read
 * zabi_status_cancel(status)                   sets only the latter
 *
 * Error codes. Of ours: class, and the number of a text, 0 .. ZABI_ERROR_TEXTS - 1.
 * zabi_error_code(class, text)    a code of ours, for which native MPI has no text
 * zabi_error_text(code)           the number of its text; -1: the code is not ours
 * zabi_error_class(code)          the class of a code of ours, or of native MPI without asking it; -1: only it knows
 * zabi_error_is_added(code)       has the application added this code or class?
 * zabi_error_is_plain(code)       is it a class, and no code with more in it?
 * zabi_error_for_native(code)     the code in its place for functions of native MPI that refuse unknown codes
 * zabi_class_number(class)        the number by which parts call an error class: MPICH's, 0 .. 127. A class of the
 *                                 application means something in its process alone, and becomes MPI_ERR_OTHER.
 * zabi_class_of(number)           that class; a number without one in this family is MPI_ERR_OTHER
 *
 * ZABI_LEARNS  defined: the family leaves some of this to its libraries (libzip/abi/learn.h)
 * ZABI_FORTRAN_READS  1: Fortran functions read the objects behind handles; 0: they do not (ompi_fortran.h)
 *
 * zabi_takes_errors(version)  does a native call return MPI_SUCCESS after a handler of the application has
 *                             taken its error?
 * ZABI_HANDLERS_HAVE_STATE  1: such libraries have MPIX_Comm_create_errhandler_x and its kin
 *
 * ZABI_RAISES_ON_OWN  1: all calls that complete a message or a collective raise its error on its own communicator;
 *                     0: see libzip/world/handlers.h
 *
 * ZABI_BSEND_MAY_FAIL  1: a buffered message that does not fit fails, and nothing else happens; 0: no later message
 * from that rank to the same one arrives on that communicator (Open MPI 4.1.4)
 *
 * ZABI_UNWEIGHTED  MPI_UNWEIGHTED; not defined: it is an object of the library
 *
 * zabi_op_is_predefined(op), zabi_op_is_valid(op)  the latter may be true for a handle that is none
 * zabi_op_number(op)       the number (uint32_t) by which parts call a predefined operation; 0: there is none
 * zabi_op_of(number)       that operation; MPI_OP_NULL: this family has none of that number
 * zabi_type_is_predefined(type)  does the handle say so? False where handles do not tell
 * zabi_type_is_valid(type)       may be true for a handle that is none
 * zabi_has_newer_types(version)  the types of the headers behind those of MPI-4.0 (libzip/type/typecode_named.c)
 *
 * zabi_is_own_split(type)  a type of MPI_Comm_split_type by hardware that this family alone has
 */
#ifndef ZIP_LIBZIP_ABI_H
#define ZIP_LIBZIP_ABI_H

#if defined(ZIP_ABI_OMPI)
#include "libzip/abi/ompi.h"
#elif defined(ZIP_ABI_STANDARD)
#include "libzip/abi/standard.h"
#else
#include "libzip/abi/mpich.h"
#endif

#endif
