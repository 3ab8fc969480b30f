/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication graphs: who sent how much to whom in a run, and the file that holds one. zipmap.graph(5) describes the
 * file byte by byte; libzip writes it (ZIPPER_PROFILE), zipmap reads and writes it.
 *
 * Ranks are vranks: ranks in the (merged) MPI_COMM_WORLD. Bytes are payload, as the sender's count and datatype say.
 * Nothing here keeps global state; different objects may be used by different threads.
 */
#ifndef ZIP_COMMON_COMMGRAPH_H
#define ZIP_COMMON_COMMGRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

#define ZGRAPH_VERSION 1
#define ZGRAPH_RANKS_MAX 0x7fffffffu  /* an MPI rank is an int */
#define ZGRAPH_PHASE_MAX 0x7fffffffu  /* and so is the level of MPI_Pcontrol */
#define ZGRAPH_TITLE_MAX 255u	      /* bytes */
#define ZGRAPH_EDGES_MAX (1ull << 28) /* that zgraph_load makes unless it is told otherwise: 5 GiB */

/* How the bytes of an edge travelled. In a file as these numbers. */
enum zgraph_class {
	ZGRAPH_P2P = 0,	 /* point-to-point */
	ZGRAPH_COLL = 1, /* collectives, decomposed by the model of zipmap.graph(5) */
	ZGRAPH_PUT = 2,	 /* one-sided, from the origin (the edge's rank) to the target (its peer) */
	ZGRAPH_GET = 3,	 /* one-sided; noted by the origin, but the bytes go from the peer to the rank */
	ZGRAPH_CLASSES
};
extern const char *const zgraph_class_names[ZGRAPH_CLASSES];

/* What is counted by calls. In a file as these numbers. */
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

/* count peers from peer on, to each of which the rank sent `bytes` in `messages`. */
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
	uint64_t calls, bytes; /* calls >= 1; bytes: what the rank handed in, see zipmap.graph(5) */
};

/* --- writing --- */

/* A rank's row as it stands in the file, without its length. runs ascend by (phase, class, peer) and do not overlap;
 * calls ascend by (phase, kind, size). Neighbouring runs with equal numbers are joined. *out is malloc'ed. 0, -ENOMEM.
 */
int zgraph_row_encode(const struct zgraph_run *runs, size_t nruns, const struct zgraph_call *calls, size_t ncalls,
	uint8_t **out, size_t *len);

struct zgraph_writer;
/* Begins a temporary file beside path. model: version of the decomposition of collectives, 0 for none. 0 or a negative
 * errno with the reason. */
int zgraph_writer_open(struct zgraph_writer **, const char *path, uint32_t ranks, unsigned model, const char *title,
	struct zerr *);
/* The rows in the order of ranks, as zgraph_row_encode made them. After an error only zgraph_writer_abandon. */
int zgraph_writer_row(struct zgraph_writer *, const uint8_t *row, size_t len, struct zerr *);
/* All rows are there: the file takes its name, replacing what had it. The writer is gone, also after an error, and
 * then so is the temporary file. */
int zgraph_writer_close(struct zgraph_writer *, struct zerr *);
void zgraph_writer_abandon(struct zgraph_writer *);

/* --- reading --- */

struct zgraph_header {
	uint32_t ranks;
	unsigned model;
	char title[ZGRAPH_TITLE_MAX + 1];
};

/* Called in the order of the file; each may be NULL; what is not 0 ends the reading and is returned. */
struct zgraph_visitor {
	int (*header)(void *ctx, const struct zgraph_header *, struct zerr *);
	int (*row)(void *ctx, uint32_t rank, struct zerr *); /* before its runs and calls */
	int (*call)(void *ctx, uint32_t rank, const struct zgraph_call *, struct zerr *);
	int (*run)(void *ctx, uint32_t rank, const struct zgraph_run *, struct zerr *);
};

/* Does the file begin as a recorded graph does (whatever its version)? 1, 0, or a negative errno. */
int zgraph_probe(const char *path, struct zerr *);
/* Reads and checks everything. 0, -EINVAL ("path: byte N: reason") for a file that is wrong, truncated or of another
 * version, -ENOMEM, or why it cannot be read. A visitor may have been called before an error is found. */
int zgraph_scan(const char *path, const struct zgraph_visitor *, void *ctx, struct zerr *);

struct zgraph_select {
	int64_t phase;	    /* one phase only; -1: all */
	unsigned classes;   /* bits 1 << enum zgraph_class; 0: all */
	bool keep_self;	    /* else messages of a rank to itself are left out */
	uint64_t edges_max; /* more are refused with -EFBIG; 0: ZGRAPH_EDGES_MAX */
};

/* Totals over all ranks of what has this phase and class, selected or not, and whether to itself or not. */
struct zgraph_layer {
	uint32_t phase;
	enum zgraph_class class;
	uint64_t edges, bytes, messages;    /* edges: pairs of a rank and another one */
	uint64_t self_bytes, self_messages; /* of bytes and messages: to the rank itself */
};

/* A graph in memory: the selected phases and classes added up, ZGRAPH_GET turned round. Rank r sent to the peers
 * peer[off[r]] to peer[off[r + 1] - 1], which ascend, each once. */
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
};

/* select NULL: everything but what ranks sent to themselves. Errors as zgraph_scan, and -EFBIG. */
int zgraph_load(struct zgraph **, const char *path, const struct zgraph_select *, struct zerr *);
void zgraph_destroy(struct zgraph *);

struct zgraph_edge {
	uint32_t src, dst;
	uint64_t bytes, messages; /* messages >= 1 */
};
/* From a list in any order; edges of the same pair are added up. Phase 1, ZGRAPH_P2P, no title. 0, -ENOMEM, -EINVAL (a
 * rank that is not there), -EOVERFLOW (a sum above 2^64). */
int zgraph_build(struct zgraph **, uint32_t ranks, const struct zgraph_edge *, size_t n, bool keep_self, struct zerr *);
/* Writes a graph as phase 1, ZGRAPH_P2P; its layers and calls are not kept. 0 or a negative errno. */
int zgraph_save(const struct zgraph *, const char *path, struct zerr *);

#endif
