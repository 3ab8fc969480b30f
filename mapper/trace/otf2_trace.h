/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads OTF2 traces, as Score-P and other tools write them, by the library of OTF2. */
#ifndef ZIP_MAPPER_OTF2_TRACE_H
#define ZIP_MAPPER_OTF2_TRACE_H

#include <stdbool.h>

#include "common/base/err.h"
#include "mapper/trace/trace.h"

/* Is this the name of a trace's anchor file, "NAME.otf2"? */
bool otf2_trace_is(const char *path);
/* Reads the trace of an anchor file, and sums it up: sends, MPI collectives, one-sided operations, and the time in MPI.
 * All events of one location after the other are read, so that memory is needed for the sums alone. 0; a negative errno
 * with the reason; -ENOTSUP where zipmap was built without OTF2. Free with trace_free in any case. */
int otf2_trace_read(struct trace *, const char *path, struct zerr *);

#endif
