/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process may have the variables of a job and be no member of it: a program that a member has started with the
 * environment of before MPI_Init, as Python keeps it in os.environ. The library is loaded into each such program, too.
 * So the first thing that it does in a process is to look at ZIPPER_MEMBER, which names the last process before this
 * one that had these variables when it started, and the job. Is that process a member of the job? Then it has handed
 * the variables on after it had joined, and they are not meant for this process.
 *
 * A member shows that it is one by a mapping of memory with a name, which others find in /proc. Where they cannot look
 * there, as on another host or after the end of the member, the process is taken for one that shall join, and zipperd
 * refuses it.
 */
#ifndef ZIP_LIBZIP_MEMBER_H
#define ZIP_LIBZIP_MEMBER_H

#include <stdbool.h>

#define ZMEMBER_VARIABLE "ZIPPER_MEMBER"

/* Has a member of the job that the environment names handed it on to this process? */
bool zmember_has_started_us(void);
/* Puts this process into the environment, if that names a job or a recording. One thread only, as with setenv(3). */
void zmember_sign(void);
/* This process has joined the job. */
void zmember_show(void);

#endif
