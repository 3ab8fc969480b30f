/* SPDX-License-Identifier: BSD-3-Clause */
/* The definitions of an OTF2 trace: which rank a location is, the members of communicators, the kinds of MPI functions.
 */
#ifndef ZIP_MAPPER_OTF2_DEFS_H
#define ZIP_MAPPER_OTF2_DEFS_H

#ifdef HAVE_OTF2

#include <otf2/otf2.h>
#include <stdbool.h>

#include "common/base/err.h"
#include "mapper/trace/tallies.h"
#include "mapper/trace/trace.h"

#define OTF2_DEFS_NONE UINT32_MAX

/* A communicator of the trace. */
struct otf2_comm {
	uint64_t ref;	   /* its number in the trace */
	uint64_t group[2]; /* numbers of its groups; the second one: of one between two groups */
	bool inter;
	bool self;     /* MPI_COMM_SELF or alike: each location is its only member */
	bool global;   /* ranks of events are those of the world */
	uint32_t comm; /* index of trace.comm */
};

struct otf2_defs {
	uint64_t ticks_second;
	struct otf2_location *location; /* [locations], by their numbers, once all is read */
	size_t locations;
	struct otf2_group *group; /* [groups] */
	size_t groups;
	struct otf2_comm *comm; /* [comms] */
	size_t comms;
	struct otf2_window *window; /* [windows] */
	size_t windows;
	struct otf2_function *function; /* [functions]: those of MPI, and phases */
	size_t functions;
	struct otf2_string *string; /* [strings] */
	size_t strings;
	int rc; /* of a callback */
};

/* Reads all global definitions, and makes the communicators of the trace. 0, -EINVAL, -ENOMEM; free in any case. */
int otf2_defs_read(struct otf2_defs *, OTF2_Reader *, const char *path, struct trace *, struct zerr *);
void otf2_defs_free(struct otf2_defs *);
/* Location number i (below locations), and its rank in the world; OTF2_DEFS_NONE: it takes no part in MPI. */
uint64_t otf2_defs_location(const struct otf2_defs *, size_t i, uint32_t *rank);
/* The rank of a location, or OTF2_DEFS_NONE. */
uint32_t otf2_defs_rank(const struct otf2_defs *, uint64_t location);
/* A communicator, or NULL. */
const struct otf2_comm *otf2_defs_comm(const struct otf2_defs *, uint64_t ref);
/* The communicator of a window, or NULL. */
const struct otf2_comm *otf2_defs_window(const struct otf2_defs *, uint64_t ref);
/* The kind of time of a region. ZGRAPH_SPANS: none. is_mpi, is_init, is_end: an MPI function; MPI_Init and
 * MPI_Finalize. */
enum zgraph_span otf2_defs_region(const struct otf2_defs *, uint64_t ref, bool *is_mpi, bool *is_init, bool *is_end);
/* The name of a region that is a phase of the program; NULL: it is none. */
const char *otf2_defs_phase(const struct otf2_defs *, uint64_t ref);

#endif
#endif
