/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Own handles in Fortran (MPI-4.0 section 19.3.4), and the class of own error codes, for families whose library cannot
 * tell: its Fortran handles are indices of its own tables. Ours are above these.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "common/base/err.h"
#include "libzip/abi/abi.h"
#include "libzip/abi/ompi_fortran.h"
#include "libzip/shim/shim.h"

_Static_assert(ZABI_ID_MAX < ZABI_FORTRAN, "an own handle fits a Fortran INTEGER");

#define SAMPLES 3
/* The bytes of an object of Open MPI that may be read: fewer than any version has. */
#define REQUEST_BYTES 128
#define GROUP_BYTES 64

static int map_requests(void)
{
	MPI_Request request[SAMPLES];
	const void *object[SAMPLES];
	MPI_Fint handle[SAMPLES];
	int n = 0, rc = -ENOMEM;

	while (n < SAMPLES && zn.Recv_init(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request[n]) == MPI_SUCCESS) {
		object[n] = request[n];
		handle[n] = zn.Request_c2f(request[n]);
		n++;
	}
	if (n == SAMPLES)
		rc = zabi_fortran_map(object, handle, n, REQUEST_BYTES, ZABI_OWN_REQUESTS, &zabi_fortran_requests);
	while (n > 0)
		zn.Request_free(&request[--n]);
	return rc;
}

static int map_groups(void)
{
	MPI_Group group[SAMPLES];
	const void *object[SAMPLES];
	MPI_Fint handle[SAMPLES];
	int n = 0, rc = -ENOMEM;

	while (n < SAMPLES && zn.Comm_group(MPI_COMM_SELF, &group[n]) == MPI_SUCCESS) {
		const int self = 0;
		MPI_Group made;
		if (zn.Group_incl(group[n], 1, &self, &made) != MPI_SUCCESS)
			made = group[n];
		else
			zn.Group_free(&group[n]);
		group[n] = made;
		object[n] = made;
		handle[n] = zn.Group_c2f(made);
		n++;
	}
	if (n == SAMPLES)
		rc = zabi_fortran_map(object, handle, n, GROUP_BYTES, ZABI_OWN_GROUPS, &zabi_fortran_groups);
	while (n > 0)
		zn.Group_free(&group[--n]);
	return rc;
}

static void map(void)
{
	int rc = map_requests();

	if (rc == 0)
		rc = map_groups();
	if (rc == 0)
		return;
	if (rc == -ENOENT)
		zerr_print("libzipper: Fortran does not run over several clusters with this Open MPI: its objects are "
			   "unknown\n");
	else
		zerr_print("libzipper: no memory for Fortran handles (ulimit -v, vm.overcommit_memory): %s\n",
			strerror(-rc));
	zn.Abort(MPI_COMM_WORLD, 1);
}

/* The first caller that asks for a Fortran handle may be a Fortran function, which will read others by itself. */
static void begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (zshim_active)
		pthread_once(&once, map);
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

int zip_Error_class(int code, int *class)
{
	if (zabi_error_text(code) < 0 || !class)
		return zn.Error_class(code, class);
	*class = zabi_error_class(code);
	return MPI_SUCCESS;
}
