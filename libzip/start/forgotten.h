/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a process that has not called MPI_Finalize: return from main, or exit. It is no death of the rank if the
 * exit status is 0. The process then waits until all ranks are at their end, and its messages get through meanwhile. If
 * another rank waits for it in vain, the job ends with an error (libzip/progress/ended.h). With another status the job
 * ends at once, and zipperd hears the status.
 */
#ifndef ZIP_LIBZIP_FORGOTTEN_H
#define ZIP_LIBZIP_FORGOTTEN_H

/* The job has been joined, by this thread. Called once. */
void zforgotten_begin(void);
/* The job is left in order. */
void zforgotten_end(void);

#endif
