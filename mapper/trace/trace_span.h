/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kind of time of zipmap.graph(5) an MPI function is. */
#ifndef ZIP_MAPPER_TRACE_SPAN_H
#define ZIP_MAPPER_TRACE_SPAN_H

#include "common/graph/graph.h"

/* The kind of time of a function, "MPI_Isend"; ZGRAPH_SPANS: the function has none. */
enum zgraph_span trace_span_of(const char *function);

#endif
