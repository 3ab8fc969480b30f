/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of an MMPI job that cannot go on. */
#ifndef ZIPBENCH_MMPI_FATAL_H
#define ZIPBENCH_MMPI_FATAL_H

/* Prints "mmpi: ..." on stderr, and ends the job. */
void fatal(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
