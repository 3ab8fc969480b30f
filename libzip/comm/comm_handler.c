/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers of new communicators. */
#include "libzip/comm/comm_handler.h"

#include <stdbool.h>

#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/handlers.h"

/* fatal: MPI_ERRORS_ARE_FATAL has been set. Without that MPICH names it where there is no handler. */
static void hand_on(MPI_Comm from, MPI_Comm to, bool fatal)
{
	MPI_Errhandler h;
	if (zip_Comm_get_errhandler(from, &h) != MPI_SUCCESS) /* the world's own handler may be set aside */
		return;
	if (h != MPI_ERRORS_ARE_FATAL || fatal)
		zn.Comm_set_errhandler(to, h);
	if (!zhandlers_is_predefined(h))
		zn.Errhandler_free(&h);
}

void zcomm_handler_inherit(MPI_Comm from, MPI_Comm to)
{
	hand_on(from, to, true);
}

void zcomm_handler_pass(const struct zcomm *parent, MPI_Comm to)
{
	hand_on(parent->handle, to, parent->fatal);
}
