/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication graphs: how much each rank has sent to each other rank in a run. zipmap.graph(5) describes the file of
 * a graph byte by byte; libzip writes such files (ZIPPER_PROFILE), zipmap reads and writes them.
 *
 * Ranks are vranks: ranks in the (merged) MPI_COMM_WORLD. Bytes are payload, by the sender's count and datatype.
 * Nothing here keeps global state; different objects may be used by different threads.
 */
#ifndef ZIP_COMMON_GRAPH_GRAPH_H
#define ZIP_COMMON_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

#define ZGRAPH_VERSION 1
#define ZGRAPH_VERSION_TIMED 2	      /* rows have times, too */
#define ZGRAPH_RANKS_MAX 0x7fffffffu  /* an MPI rank is an int */
#define ZGRAPH_PHASE_MAX 0x7fffffffu  /* and so is a level of MPI_Pcontrol */
#define ZGRAPH_TITLE_MAX 255u	      /* bytes */
#define ZGRAPH_EDGES_MAX (1ull << 28) /* that zgraph_load makes without another limit: 5 GiB */

/* How the bytes of an edge travelled. Files have these numbers. */
enum zgraph_class {
	ZGRAPH_P2P = 0,	 /* point-to-point */
	ZGRAPH_COLL = 1, /* collectives, decomposed by the model of zipmap.graph(5) */
	ZGRAPH_PUT = 2,	 /* one-sided, from the origin (the edge's rank) to the target (its peer) */
	ZGRAPH_GET = 3,	 /* one-sided; the origin has recorded it, but the bytes go from the peer to the rank */
	ZGRAPH_CLASSES
};
extern const char *const zgraph_class_names[ZGRAPH_CLASSES];

/* Things that are counted by calls. Files have these numbers. */
enum zgraph_kind {
	ZGRAPH_OUTSIDE = 0, /* to processes that are not in this world (MPI_Comm_spawn, MPI_Comm_connect) */
	ZGRAPH_LOST,	    /* the recorder's table was full: these bytes are in no edge */
	ZGRAPH_BARRIER,
	ZGRAPH_BCAST,
	ZGRAPH_GATHER,
	ZGRAPH_GATHERV,
	ZGRAPH_SCATTER,
	ZGRAPH_SCATTERV,
	ZGRAPH_ALLGATHER,
	ZGRAPH_ALLGATHERV,
	ZGRAPH_ALLTOALL,
	ZGRAPH_ALLTOALLV,
	ZGRAPH_ALLTOALLW,
	ZGRAPH_REDUCE,
	ZGRAPH_ALLREDUCE,
	ZGRAPH_REDUCE_SCATTER,
	ZGRAPH_REDUCE_SCATTER_BLOCK,
	ZGRAPH_SCAN,
	ZGRAPH_EXSCAN,
	ZGRAPH_NEIGHBOR_ALLGATHER,
	ZGRAPH_NEIGHBOR_ALLGATHERV,
	ZGRAPH_NEIGHBOR_ALLTOALL,
	ZGRAPH_NEIGHBOR_ALLTOALLV,
	ZGRAPH_NEIGHBOR_ALLTOALLW,
	ZGRAPH_KINDS
};
extern const char *const zgraph_kind_names[ZGRAPH_KINDS];

/* Kinds of time. Files have these numbers. Those of collectives are ZGRAPH_BARRIER to ZGRAPH_KINDS - 1. A new
 * kind goes to the end. */
enum zgraph_span {
	ZGRAPH_SPAN_RUN = 0, /* from MPI_Init to MPI_Finalize, inside and outside of MPI */
	ZGRAPH_SPAN_BRIDGE,  /* of the time in MPI: waiting for other clusters */
	ZGRAPH_SPAN_MPI,     /* the kinds from here on are disjoint, and add up to the time in MPI */
	ZGRAPH_SPAN_SEND = 24,
	ZGRAPH_SPAN_RECV,
	ZGRAPH_SPAN_SENDRECV,
	ZGRAPH_SPAN_START, /* beginning nonblocking and persistent operations */
	ZGRAPH_SPAN_WAIT,
	ZGRAPH_SPAN_TEST,
	ZGRAPH_SPAN_PROBE,
	ZGRAPH_SPAN_ONESIDED,
	ZGRAPH_SPAN_WINDOW, /* making, synchronising and freeing windows */
	ZGRAPH_SPAN_FILE,
	ZGRAPH_SPAN_COMM, /* making and freeing communicators */
	ZGRAPH_SPANS
};
_Static_assert((int)ZGRAPH_SPAN_SEND >= (int)ZGRAPH_KINDS,
	"a new collective has a number that files use for another time");
extern const char *const zgraph_span_names[ZGRAPH_SPANS];

/* The rank sent `bytes` in `messages` to each of `count` peers, from `peer` on. */
struct zgraph_run {
	uint32_t phase; /* level of MPI_Pcontrol; 1 where the program sets none */
	enum zgraph_class class;
	uint32_t peer, count;	  /* count >= 1 */
	uint64_t bytes, messages; /* messages >= 1 */
};

/* Calls of one kind by a rank. Summed over ranks, a collective over n ranks counts n calls. */
struct zgraph_call {
	uint32_t phase;
	enum zgraph_kind kind;
	uint32_t size;	       /* of the communicator */
	uint64_t calls, bytes; /* calls >= 1; bytes: of the rank's arguments, see zipmap.graph(5) */
};

/* Time of a rank. */
struct zgraph_time {
	uint32_t phase;
	enum zgraph_span span;
	uint64_t calls, ns; /* calls >= 1; 1 for ZGRAPH_SPAN_RUN; of ZGRAPH_SPAN_BRIDGE the waits */
};

/* Totals over all ranks of one phase and class, whether selected or not, with messages of ranks to themselves. */
struct zgraph_layer {
	uint32_t phase;
	enum zgraph_class class;
	uint64_t edges, bytes, messages;    /* edges: pairs of two different ranks */
	uint64_t self_bytes, self_messages; /* of bytes and messages: those to the rank itself */
};

/* Time of one kind over all ranks, in the selected phases. */
struct zgraph_total {
	uint64_t calls, ns;   /* sums */
	uint64_t least, most; /* ns of the rank with the least, 0 if it has none; of the rank with the most */
};

/* Times of one rank in the selected phases, in ns. */
struct zgraph_rank {
	uint64_t run, mpi, bridge;
};

/* A graph in memory: the selected phases and classes are added up, and ZGRAPH_GET is turned round. Rank r sent to the
 * peers peer[off[r]] to peer[off[r + 1] - 1], which ascend, each once. */
struct zgraph {
	uint32_t ranks;
	uint64_t edges;			      /* off[ranks] */
	uint64_t *off;			      /* [ranks + 1] */
	uint32_t *peer;			      /* [edges] */
	uint64_t *bytes, *messages;	      /* [edges] */
	uint64_t total_bytes, total_messages; /* sums of bytes[] and messages[] */
	unsigned model;
	char title[ZGRAPH_TITLE_MAX + 1];
	size_t nlayers;
	struct zgraph_layer *layers; /* [nlayers], ascending by (phase, class) */
	size_t ncalls;
	struct zgraph_call *calls; /* [ncalls], ascending by (phase, kind, size), summed over ranks; not selected */
	struct zgraph_rank *rank;  /* [ranks]; NULL: the file has no times */
	struct zgraph_total span[ZGRAPH_SPANS];
};

void zgraph_destroy(struct zgraph *);

struct zgraph_edge {
	uint32_t src, dst;
	uint64_t bytes, messages; /* messages >= 1 */
};
/* Builds a graph from a list in any order; edges of the same pair are added up. Phase 1, ZGRAPH_P2P, no title. Returns
 * 0, -ENOMEM, -EINVAL (a rank that does not exist), or -EOVERFLOW (a sum above 2^64). */
int zgraph_build(struct zgraph **, uint32_t ranks, const struct zgraph_edge *, size_t n, bool keep_self, struct zerr *);
/* Writes a graph as phase 1, ZGRAPH_P2P; its layers, calls and times are not kept. Returns 0 or a negative errno. */
int zgraph_save(const struct zgraph *, const char *path, struct zerr *);

#endif
