/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing the file of a communication graph (graph.h) row by row. One thread per writer. */
#ifndef ZIP_COMMON_GRAPH_GRAPH_WRITER_H
#define ZIP_COMMON_GRAPH_GRAPH_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/graph/graph.h"

struct zgraph_writer;

/* The contents of a rank's row. */
struct zgraph_row {
	const struct zgraph_run *runs; /* ascend by (phase, class, peer) and do not overlap */
	size_t nruns;
	const struct zgraph_call *calls; /* ascend by (phase, kind, size) */
	size_t ncalls;
	bool timed;			 /* as the file */
	const struct zgraph_time *times; /* ascend by (phase, span); only if timed */
	size_t ntimes;
};

/* Encodes a rank's row as it stands in the file, without its length. Neighbouring runs with equal numbers are joined.
 * *out is malloc'ed. Returns 0 or -ENOMEM. */
int zgraph_writer_encode(const struct zgraph_row *, uint8_t **out, size_t *len);

/* Begins a temporary file beside path. model: version of the decomposition of collectives, 0 for none. timed: its rows
 * have times; a file without them can be read by older programs, too. Returns 0, or a negative errno with the reason.
 */
int zgraph_writer_open(struct zgraph_writer **, const char *path, uint32_t ranks, unsigned model, const char *title,
	bool timed, struct zerr *);
/* Adds a row that zgraph_writer_encode made; rows come in the order of ranks. After an error the caller may only call
 * zgraph_writer_abandon. */
int zgraph_writer_row(struct zgraph_writer *, const uint8_t *row, size_t len, struct zerr *);
/* Ends the file after the last row. The file takes its name and replaces an older one. The writer is gone, also after
 * an error; after an error the temporary file is gone, too. */
int zgraph_writer_close(struct zgraph_writer *, struct zerr *);
void zgraph_writer_abandon(struct zgraph_writer *);

#endif
