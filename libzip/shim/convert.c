/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Own handles as integers, for Fortran (MPI-4.0 section 19.3.4) and others, and the class of own error codes, for
 * families whose library cannot tell: its Fortran handles are indices of its own tables, or its own numbers. Ours are
 * above these.
 */
#include "libzip/abi/abi.h"
#include "libzip/shim/convert_fortran.h"
#include "libzip/shim/shim.h"

_Static_assert(ZABI_ID_MAX < ZABI_FORTRAN, "an own handle fits a Fortran INTEGER");

/* The first caller that asks for a Fortran handle may be a Fortran function, which will read others by itself. */
static void begin(void)
{
#if ZABI_FORTRAN_READS
	zconvert_fortran_begin();
#endif
}

static bool is_ours(MPI_Fint handle)
{
	return handle >= ZABI_FORTRAN && (uint32_t)(handle - ZABI_FORTRAN) <= ZABI_ID_MAX;
}

MPI_Fint zip_Request_c2f(MPI_Request request)
{
	begin();
	return zabi_is_own_request(request) ? ZABI_FORTRAN + (MPI_Fint)zabi_own_request_id(request)
					    : zn.Request_c2f(request);
}

MPI_Request zip_Request_f2c(MPI_Fint request)
{
	begin();
	return is_ours(request) ? zabi_own_request((uint32_t)(request - ZABI_FORTRAN)) : zn.Request_f2c(request);
}

MPI_Fint zip_Message_c2f(MPI_Message message)
{
	return zabi_is_own_message(message) ? ZABI_FORTRAN + (MPI_Fint)zabi_own_message_id(message)
					    : zn.Message_c2f(message);
}

MPI_Message zip_Message_f2c(MPI_Fint message)
{
	return is_ours(message) ? zabi_own_message((uint32_t)(message - ZABI_FORTRAN)) : zn.Message_f2c(message);
}

MPI_Fint zip_Group_c2f(MPI_Group group)
{
	const uint32_t id = zabi_own_group_id(group);

	begin();
	return id > 0 ? ZABI_FORTRAN + (MPI_Fint)id : zn.Group_c2f(group);
}

MPI_Group zip_Group_f2c(MPI_Fint group)
{
	begin();
	return is_ours(group) ? zabi_own_group((uint32_t)(group - ZABI_FORTRAN)) : zn.Group_f2c(group);
}

/* The same of the standard ABI (MPI-5.0 section 20.3.3), for languages that store handles as integers. */

int zip_Request_toint(MPI_Request request)
{
	return zabi_is_own_request(request) ? ZABI_FORTRAN + (int)zabi_own_request_id(request)
					    : zn.Request_toint(request);
}

MPI_Request zip_Request_fromint(int request)
{
	return is_ours(request) ? zabi_own_request((uint32_t)(request - ZABI_FORTRAN)) : zn.Request_fromint(request);
}

int zip_Message_toint(MPI_Message message)
{
	return zabi_is_own_message(message) ? ZABI_FORTRAN + (int)zabi_own_message_id(message)
					    : zn.Message_toint(message);
}

MPI_Message zip_Message_fromint(int message)
{
	return is_ours(message) ? zabi_own_message((uint32_t)(message - ZABI_FORTRAN)) : zn.Message_fromint(message);
}

int zip_Group_toint(MPI_Group group)
{
	const uint32_t id = zabi_own_group_id(group);

	return id > 0 ? ZABI_FORTRAN + (int)id : zn.Group_toint(group);
}

MPI_Group zip_Group_fromint(int group)
{
	return is_ours(group) ? zabi_own_group((uint32_t)(group - ZABI_FORTRAN)) : zn.Group_fromint(group);
}

int zip_Error_class(int code, int *class)
{
	if (zabi_error_text(code) < 0 || !class)
		return zn.Error_class(code, class);
	*class = zabi_error_class(code);
	return MPI_SUCCESS;
}
