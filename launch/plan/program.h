/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at the files of the programs before anything is started, as far as this machine has them: a program that cannot
 * run, or into which libzipper.so cannot be loaded, is refused by name. A rank without libzipper.so would see a world
 * of its own cluster, and all others would wait for it.
 *
 * Only the named file is looked at. Shells, Python, env, gdb and the like pass, whatever program they start.
 */
#ifndef ZIP_LAUNCH_PROGRAM_H
#define ZIP_LAUNCH_PROGRAM_H

#include "launch/plan/plan.h"

/*
 * Checks the program of each section that has ranks, as the mpiexec of those ranks finds it: along PATH of the ranks,
 * from their working directory. preloaded: libzipper.so is to be loaded.
 *
 * Other hosts may have other files. So a program that runs on other hosts alone is refused for what its file here is
 * linked with, and not because the file, its interpreter or the working directory is not here.
 *
 * A sanitizer's runtime must come in front of all other libraries. So each section that is linked with one and
 * preloaded gets its name (zsection, runtimes). The MPI that the program is linked with is noted, too (zsection, mpi
 * and standard).
 *
 * 0, or a negative errno with the reason. Call it after zplan_make, once.
 */
int zprogram_check(const struct zplan *, struct zoptions *, bool preloaded, struct zerr *);

#endif
