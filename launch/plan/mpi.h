/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which family of MPI libraries the ranks of a part use. The launcher of that family starts them, with the libzipper
 * that is made for it. The parts of one job may use different ones. A program that calls its MPI by the standard ABI
 * has a libzipper of its own, and the same launcher.
 */
#ifndef ZIP_LAUNCH_MPI_H
#define ZIP_LAUNCH_MPI_H

#include <stdbool.h>

#include "common/base/err.h"

enum zmpi {
	ZMPI_UNKNOWN, /* nobody says: as ZMPI_MPICH */
	ZMPI_MPICH,   /* and the libraries of its ABI */
	ZMPI_OPEN,    /* Open MPI 4, 5 or 6 */
};

struct zplan;
struct zoptions;

/* "MPICH" or "Open MPI", for messages. */
const char *zmpi_name(enum zmpi);
/* Was zmpirun built with that family? */
bool zmpi_is_built(enum zmpi);
/* Was zmpirun built with the standard ABI? */
bool zmpi_has_standard(void);
/* Finds what --mpi says, the hostfile, or the programs (zsection, mpi), and sets the parts' mpi and standard. -EINVAL
 * where these contradict each other, or an option is not for that family. Call it after zprogram_check. */
int zmpi_choose(struct zplan *, const struct zoptions *, struct zerr *);

#endif
