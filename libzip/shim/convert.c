/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Own handles in Fortran (MPI-4.0 section 19.3.4), and the class of own error codes, for families whose library cannot
 * tell: its Fortran handles are indices of its own tables. Ours are above these.
 */
#include "libzip/abi/abi.h"
#include "libzip/shim/shim.h"

#define OURS 0x40000000
_Static_assert(ZABI_ID_MAX < OURS, "an own handle fits a Fortran INTEGER");

static bool is_ours(MPI_Fint handle)
{
	return handle >= OURS && (uint32_t)(handle - OURS) <= ZABI_ID_MAX;
}

MPI_Fint zip_Request_c2f(MPI_Request request)
{
	return zabi_is_own_request(request) ? OURS + (MPI_Fint)zabi_own_request_id(request) : zn.Request_c2f(request);
}

MPI_Request zip_Request_f2c(MPI_Fint request)
{
	return is_ours(request) ? zabi_own_request((uint32_t)(request - OURS)) : zn.Request_f2c(request);
}

MPI_Fint zip_Message_c2f(MPI_Message message)
{
	return zabi_is_own_message(message) ? OURS + (MPI_Fint)zabi_own_message_id(message) : zn.Message_c2f(message);
}

MPI_Message zip_Message_f2c(MPI_Fint message)
{
	return is_ours(message) ? zabi_own_message((uint32_t)(message - OURS)) : zn.Message_f2c(message);
}

MPI_Fint zip_Group_c2f(MPI_Group group)
{
	const uint32_t id = zabi_own_group_id(group);

	return id > 0 ? OURS + (MPI_Fint)id : zn.Group_c2f(group);
}

MPI_Group zip_Group_f2c(MPI_Fint group)
{
	return is_ours(group) ? zabi_own_group((uint32_t)(group - OURS)) : zn.Group_f2c(group);
}

int zip_Error_class(int code, int *class)
{
	if (zabi_error_text(code) < 0 || !class)
		return zn.Error_class(code, class);
	*class = zabi_error_class(code);
	return MPI_SUCCESS;
}
