/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory behind own handles for Fortran functions that read the objects. See convert_fortran.h. */
#include "libzip/shim/convert_fortran.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "common/base/err.h"
#include "libzip/abi/abi.h"
#include "libzip/abi/ompi_fortran.h"
#include "libzip/shim/shim.h"

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

void zconvert_fortran_begin(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (zshim_active)
		pthread_once(&once, map);
}
