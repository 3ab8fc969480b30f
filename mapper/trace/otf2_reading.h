/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of otf2_program share: what is known of the trace, and of the location whose events are read. Inside
 * the folder, and only with OTF2. */
#ifndef ZIP_MAPPER_OTF2_READING_H
#define ZIP_MAPPER_OTF2_READING_H

#include "mapper/program/program.h"
#include "mapper/trace/otf2_events.h"

#define OTF2_PHASES_MAX 64 /* open at once; deeper ones do not count */

#define OTF2_NOWHERE UINT32_MAX

/* A collective of the location, in the order in which they begin. Its operations are op[at..at + n) of the rank; or,
 * where ahead, those of `ahead`, to be put in place of op[at]. */
struct otf2_coll {
	uint32_t comm; /* OTF2_DEFS_NONE: it has no messages, or its end is not known */
	uint32_t at, n;
	uint32_t ahead; /* index; OTF2_NOWHERE */
	bool begun;	/* nonblocking: op[at] only holds its place */
};

/* A nonblocking collective that is not complete. */
struct otf2_coll_open {
	uint64_t request;
	uint32_t coll; /* index */
};

/* What a rank knows of a communicator. */
struct otf2_coll_comm {
	uint32_t known; /* the rank, plus 1 */
	uint32_t place; /* of the rank */
	uint32_t colls; /* that have a number */
};

struct otf2_reading {
	struct program *p;
	struct trace trace; /* its ranks and communicators */
	struct otf2_defs defs;
	const char *path;
	struct zerr *err;
	int rc; /* of a callback */
	/* of the location: */
	uint32_t rank;
	bool mine;	       /* it is the location of the rank that calls MPI */
	bool *taken;	       /* [ranks]: a location of the rank calls MPI */
	struct program_op *op; /* [nop]: those of earlier locations of a rank, none of which calls MPI */
	uint32_t nop;
	unsigned depth;	       /* of MPI functions that are entered */
	enum zgraph_span span; /* of the outermost of them */
	uint64_t left;	       /* ticks: when the rank began to compute */
	bool computes;	       /* `left` is known */
	uint32_t *pending;     /* [npending]: slots of sends that the function waits for when it ends */
	uint32_t npending;
	bool polls;		/* the function before was MPI_Test or MPI_Iprobe, in vain */
	bool completed;		/* a request, in this function */
	struct otf2_coll *coll; /* [ncolls] */
	uint32_t ncolls;
	struct otf2_coll_open *open; /* [nopen] */
	uint32_t nopen;
	struct program ahead;	     /* operations that begin ahead of the completion of their collective */
	struct otf2_coll_comm *comm; /* [trace.comms] */
	const char *phase[OTF2_PHASES_MAX];
	unsigned phases;
};

/* What a callback returns after rc, which it keeps. */
OTF2_CallbackCode otf2_reading_next(struct otf2_reading *, int rc);
/* Sets the error: -ENOMEM. */
int otf2_reading_memory(struct otf2_reading *);
/* Takes the location as the one of its rank that calls MPI. Of others neither phases nor computing count. */
int otf2_reading_take(struct otf2_reading *);
/* What follows belongs to the innermost phase that is open. */
int otf2_reading_phase(struct otf2_reading *);

#endif
