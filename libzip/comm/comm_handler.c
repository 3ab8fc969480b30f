/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of new communicators. */
#include "libzip/comm/comm_handler.h"

#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"

void zcomm_handler_inherit(MPI_Comm from, MPI_Comm to)
{
	MPI_Errhandler h;
	if (zip_Comm_get_errhandler(from, &h) != MPI_SUCCESS) /* the world's own handler may be set aside */
		return;
	zn.Comm_set_errhandler(to, h);
	if (!zhandlers_is_predefined(h))
		zn.Errhandler_free(&h);
}
