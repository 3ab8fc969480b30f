/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages that a rank sends in a collective, by the model of zipmap.graph(5). The model is the same for any
 * library, machine or placement. A rank sends in proportion to its unit of the call, the bytes of one block, so many
 * calls are decomposed at once. No MPI, no state.
 */
#ifndef ZIP_COMMON_GRAPH_GRAPH_MODEL_H
#define ZIP_COMMON_GRAPH_GRAPH_MODEL_H

#include <stdint.h>

#include "common/graph/graph.h"

#define ZGRAPH_MODEL 1 /* in the file */

/* Receives one peer, which gets `blocks` units in `messages` messages. */
typedef void zgraph_model_emit(void *ctx, int peer, uint64_t blocks, uint64_t messages);

/*
 * Emits what `rank` of `size` sends in one call; peers are ranks of the communicator, never itself. root where the kind
 * has one. The unit:
 *   barrier none (blocks are 0); bcast, reduce, allreduce, scan, exscan the whole buffer; gather, scatter, alltoall,
 *   reduce_scatter_block one rank's block; gatherv what the rank sends; allgather a block and allgatherv all that the
 *   rank passes on along the ring.
 * Other kinds have no unit and emit nothing: the caller knows their messages one by one.
 */
void zgraph_model(enum zgraph_kind, int rank, int size, int root, zgraph_model_emit *, void *ctx);

#endif
