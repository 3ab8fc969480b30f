/* SPDX-License-Identifier: BSD-3-Clause */
/* A small MPI program inside the probe: round trip and bandwidth between its rank 0 and each other rank. One thread. */
#ifndef ZIP_LAUNCH_MEASURE_H
#define ZIP_LAUNCH_MEASURE_H

/* Runs it, and says for each rank but 0 "leg RANK NANOSECONDS BYTES-PER-SECOND-THERE BYTES-PER-SECOND-BACK". Returns
 * the exit status. */
int zmeasure_run(void);

#endif
