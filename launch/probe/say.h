/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines in which a probe on a host tells what it has found: "zipprobe: KEY TEXT". `zmpirun --check` reads them.
 * Other lines on the same stream are of mpiexec. One thread. */
#ifndef ZIP_LAUNCH_SAY_H
#define ZIP_LAUNCH_SAY_H

#define ZSAY_MARK "zipprobe: "

/* Prints one line at once. Characters that do not print become '?'. */
void zsay(const char *key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
