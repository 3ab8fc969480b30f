/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endpoints of all threads of a plan (endpoint.h), built at once. One thread builds and destroys the set.
 * Afterwards each thread uses the objects that zep_set_qp() and the other functions name for it.
 */
#ifndef ZIP_COMMON_ENDPOINT_EP_SET_H
#define ZIP_COMMON_ENDPOINT_EP_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_kept.h"

struct zep_set {
	struct zep_kept kept;
	struct zep_plan plan;
	struct zep_context *context; /* [threads / ctx_ways, rounded up] */
	struct zep_seat *seat;	     /* one for each queue pair that threads use */
	char *arena;		     /* all buffers, region after region */
	size_t stride;		     /* bytes from one buffer to the next */
	unsigned nbufs;
	bool no_domains; /* the provider has no thread domains, though the plan wants them: locks, and static uUARs */
	bool no_single;	 /* the provider has no completion queues without a lock, though the plan wants them */
};

/* Builds the set. Where the provider has no thread domains or no single-threaded completion queues, the set is built
 * without them, and one log line that begins with `who` tells so (NULL: no line). Returns 0, or a negative errno with
 * text and nothing left behind. */
int zep_set_build(struct zep_set *, const struct zep_plan *, const struct zep_ops *, void *to, const char *who,
	struct zerr *);
void zep_set_destroy(struct zep_set *);

/* Have all threads single-threaded completion queues? Those are extended ones of libibverbs. */
static inline bool zep_set_is_extended(const struct zep_set *s)
{
	return zep_is_single(&s->plan) && !s->no_single;
}

/* The objects of thread t, as handles of the backend. */
void *zep_set_ctx(const struct zep_set *, unsigned t);
void *zep_set_pd(const struct zep_set *, unsigned t);
void *zep_set_cq(const struct zep_set *, unsigned t);
void *zep_set_qp(const struct zep_set *, unsigned t, unsigned path);
void *zep_set_mr(const struct zep_set *, unsigned t, unsigned region);
void *zep_set_buf(const struct zep_set *, unsigned t, unsigned region);
/* The number of queue pairs that threads use, and the i-th of them. */
size_t zep_set_used_qps(const struct zep_set *);
void *zep_set_used_qp(const struct zep_set *, size_t i);

#endif
