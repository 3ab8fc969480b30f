/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the child processes of a rank inherit. Workflow drivers start other jobs from a rank: with mpiexec, zmpirun, or
 * a shell around them. Such a job is a plain one. So the environment of a rank stops naming our job once the rank has
 * joined.
 */
#ifndef ZIP_LIBZIP_INHERIT_H
#define ZIP_LIBZIP_INHERIT_H

/*
 * Takes out of this process' environment: libzipper.so in LD_PRELOAD, and the ZIPPER_* variables that tell which job
 * and which part the process belongs to. Other libraries in LD_PRELOAD stay, and so do variables that tune the library,
 * and those of PMI, which programs read and mpiexec sets anew.
 *
 * Called once, in the thread of MPI_Init, when everything of these variables has been read. A program that starts
 * others before MPI_Init hands the variables on. Other threads of the program must not use the environment meanwhile,
 * as with setenv(3).
 */
void zinherit_leave_job(void);

#endif
