/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launcher that started this process, as the environment tells it: MPICH's Hydra and others with PMI or PMI2, PMIx,
 * PALS, Slurm. This module has the only table of their variables. libzipper(7) lists them under "Launchers".
 *
 * Batch systems and outer jobs leave variables that were meant for another process. So a launcher counts only if the
 * rank in its variables is the rank that native MPI has, and likewise the size, where the launcher tells it.
 */
#ifndef ZIP_LIBZIP_LAUNCHER_H
#define ZIP_LIBZIP_LAUNCHER_H

#include <stdbool.h>

#include "common/control/ctl.h"

/* Does native MPI talk with a launcher, or was the process started alone? rank and size are those of the native
 * MPI_COMM_WORLD. */
bool zlauncher_has_started_us(int rank, int size);
/* Finds which of the launcher's ranks on this host we are, from 0, and how many these are. -1: the launcher does not
 * tell. */
void zlauncher_local(int *number, int *count);
/* Finds this host's name, as hostfiles and maps have it: the launcher's name for it, else that of gethostname(2), else
 * "unknown". */
void zlauncher_host(char host[ZCTL_NAME_MAX + 1], int rank, int size);

#endif
