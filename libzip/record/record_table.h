/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of one process: bytes and messages by phase, class and peer, and calls by phase, kind and size. Grows by
 * doubling up to a limit. No MPI; one thread at a time. */
#ifndef ZIP_LIBZIP_RECORD_TABLE_H
#define ZIP_LIBZIP_RECORD_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/graph/graph.h"
#include "common/graph/graph_writer.h"

/* 48 MiB of edges: 1.5 million pairs of (phase, class) and peer. Messages of further pairs count as ZGRAPH_LOST. */
#define ZRECORD_SLOTS_MAX ((size_t)1 << 21)
/* Number of different (phase, kind, size); further calls count with size 0. */
#define ZRECORD_CALLS_MAX 4096

struct zrecord_slot {
	uint64_t key; /* 0: free; phases begin with 1, so no key is 0 */
	uint64_t bytes, messages;
};

struct zrecord_table {
	struct zrecord_slot *slots; /* [mask + 1], NULL before the first edge */
	size_t mask, used;
	size_t slots_max;	   /* a power of two; 0: ZRECORD_SLOTS_MAX */
	struct zgraph_call *calls; /* [ncalls], ascending by (phase, kind, size) */
	size_t ncalls, calls_cap;
};

/* Counts messages; phase >= 1, messages >= 1. Without room or memory they count as ZGRAPH_LOST (size 0), so none is
 * forgotten. */
void zrecord_table_edge(struct zrecord_table *, uint32_t phase, enum zgraph_class, uint32_t peer, uint64_t bytes,
	uint64_t messages);
/* Counts calls; calls >= 1. Without memory for a new entry they are not counted. */
void zrecord_table_call(struct zrecord_table *, uint32_t phase, enum zgraph_kind, uint32_t size, uint64_t calls,
	uint64_t bytes);
/* Adds up the messages to those peers of a class that `wanted` names. */
void zrecord_table_sum(const struct zrecord_table *, enum zgraph_class, bool (*wanted)(uint32_t peer), uint64_t *bytes,
	uint64_t *messages);
/* Encodes the row of the file, with these times, as zgraph_writer_encode. The table keeps its content but loses its
 * order, so nothing may be added afterwards. */
int zrecord_table_encode(struct zrecord_table *, const struct zgraph_time *times, size_t ntimes, uint8_t **out,
	size_t *len);
void zrecord_table_free(struct zrecord_table *);

#endif
