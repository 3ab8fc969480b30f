/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands signals that are no reason to end on to the ranks. */
#ifndef ZIP_LAUNCH_RELAY_H
#define ZIP_LAUNCH_RELAY_H

#include "launch/run/run.h"

/* Sends the signal to all ranks. An mpiexec that catches the signal passes it on: those of MPICH 3.4 to 5.0 catch
 * SIGUSR1. Any other mpiexec would die of it. zmpirun then signals the ranks on this machine itself, and warns if these
 * are not all ranks. */
void zrelay_signal(struct zrun *, int number);

#endif
