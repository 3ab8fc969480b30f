/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier, blocking, nonblocking and persistent. */
#include "libzip/coll/barrier.h"
#include "libzip/coll/call/forms.h"

static const struct zcoll_across across = {NULL, zbarrier_build};

#define PARAMS MPI_Comm comm
ZCOLL_FORM(Barrier, Ibarrier, , PARAMS, (comm), (.build = zbarrier_build, .across = &across))
