/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicator that raises no errors. See quiet.h. */
#include "libzip/world/quiet.h"

#include <pthread.h>

#include "libzip/shim/shim.h"

static MPI_Comm quiet = MPI_COMM_SELF;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_quiet(void)
{
	if (zn.Comm_dup(MPI_COMM_SELF, &quiet) == MPI_SUCCESS)
		zn.Comm_set_errhandler(quiet, MPI_ERRORS_RETURN);
}

MPI_Comm zquiet_comm(void)
{
	pthread_once(&once, make_quiet);
	return quiet;
}
