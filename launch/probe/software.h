/* SPDX-License-Identifier: BSD-3-Clause */
/* The software of this host: libzipper.so and its modules, MPI, the program. Each function says what it finds, see
 * the table in launch/probe/README.md. One thread. */
#ifndef ZIP_LAUNCH_SOFTWARE_H
#define ZIP_LAUNCH_SOFTWARE_H

/* libzipper.so: its release, and whether the dynamic linker preloads it. */
void zsoftware_say_library(const char *path);
/* The MPI library that a program gets here which names none of its own. */
void zsoftware_say_mpi(void);
/* The program, as execvp(3) finds it. */
void zsoftware_say_program(const char *name);
/* To be called by main first: ends a process that zsoftware_say_library has started as a test. */
void zsoftware_end_test(int argc, char **argv);

#endif
