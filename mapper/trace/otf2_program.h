/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads an OTF2 trace as a program: messages in their order, with the time that ranks compute between their calls of
 * MPI. The trace's own times of calls do not count. Collectives become messages by the model of zipmap.graph(5); those
 * between two groups are left out, and nonblocking ones count where they are completed. One-sided operations are waited
 * for at once. A region that is marked as a phase is a phase of the program.
 */
#ifndef ZIP_MAPPER_OTF2_PROGRAM_H
#define ZIP_MAPPER_OTF2_PROGRAM_H

#include "common/base/err.h"
#include "mapper/program/program.h"

/* Reads the trace of an anchor file. 0; a negative errno with the reason; -ENOTSUP where zipmap was built without OTF2,
 * or where two threads of a rank call MPI, whose order is not known. Free with program_free in any case. */
int otf2_program_read(struct program *, const char *path, struct zerr *);

#endif
