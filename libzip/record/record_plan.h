/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests in the recorder: the messages of each start. Under the recorder's lock; no MPI calls. */
#ifndef ZIP_LIBZIP_RECORD_REQUEST_H
#define ZIP_LIBZIP_RECORD_REQUEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/graph/graph.h"

struct zrecord_plan_edge {
	int vrank; /* -1: outside */
	uint64_t bytes, messages;
};

struct zrecord_plan {
	MPI_Request request;
	enum zgraph_class class;
	bool counted; /* a collective: kind, size and handed of the call to count */
	enum zgraph_kind kind;
	uint32_t size;
	uint64_t handed;
	size_t n, cap;
	struct zrecord_plan_edge *edges; /* [n] */
	struct zrecord_plan *next;
};

/* Adds a plan to the table; replaces an older one for the same handle. NULL: no memory. */
struct zrecord_plan *zrecord_plan_create(MPI_Request);
/* 0, or -ENOMEM: the plan lacks this edge. */
int zrecord_plan_add(struct zrecord_plan *, int vrank, uint64_t bytes, uint64_t messages);
const struct zrecord_plan *zrecord_plan_find(MPI_Request);
void zrecord_plan_destroy(MPI_Request);
void zrecord_plan_destroy_all(void);

#endif
