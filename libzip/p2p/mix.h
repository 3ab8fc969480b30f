/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An array of requests that may mix native requests and ours. Native MPI sees a copy of the array with
 * MPI_REQUEST_NULL in place of our requests; or the array itself where none is ours. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_MIX_H
#define ZIP_LIBZIP_MIX_H

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

#include "libzip/p2p/completion.h"
#include "libzip/world/req.h"
#include "libzip/world/status.h"

#define ZMIX_SMALL 64 /* requests for which no memory is allocated */

struct zmix {
	int n;
	MPI_Request *all;    /* the application's */
	MPI_Request *native; /* without our requests; equal to all if there are none */
	MPI_Request small[ZMIX_SMALL];
	bool any_native;
};

/* missing: an argument that is a null pointer, or NULL. MPI_SUCCESS, or a code after the error handler; then there is
 * nothing to close. */
int zmix_open(struct zmix *, int n, MPI_Request *all, const char *name, const char *missing);

/* Is none of our requests still under way? Delivers nothing. */
bool zmix_are_ours_ready(const struct zmix *);
/* Is none of our requests still under way that a message of another cluster could complete? Delivers nothing. */
bool zmix_waits_native(const struct zmix *);

/* Our request at that index, or NULL. */
static inline struct zreq *zmix_ours(const struct zmix *m, int i)
{
	return m->native == m->all ? NULL : zreq_find(m->all[i]);
}

/* Our request at that index, unless it is inactive; or NULL. */
static inline struct zreq *zmix_active(const struct zmix *m, int i)
{
	struct zreq *r = zmix_ours(m, i);
	return r && !zcompletion_is_inactive(r) ? r : NULL;
}

/* Native MPI has changed its handle at that index. */
static inline void zmix_store(struct zmix *m, int i)
{
	if (m->native != m->all && !zreq_is_ours(m->all[i]))
		m->all[i] = m->native[i];
}

static inline void zmix_close(struct zmix *m)
{
	if (m->native != m->all && m->native != m->small)
		free(m->native);
}

/* Names of arguments that are null pointers, or NULL; of functions that return several statuses, and of those that
 * return some. */
static inline const char *zmix_missing_statuses(int n, const MPI_Status *statuses)
{
	return n > 0 && zstatus_is_missing(statuses) ? "array_of_statuses" : NULL;
}
static inline const char *zmix_missing_some(int n, const int *count, const int *indices, const MPI_Status *statuses)
{
	if (!count)
		return "outcount";
	return n > 0 && !indices ? "array_of_indices" : zmix_missing_statuses(n, statuses);
}

static inline MPI_Status *zmix_nth(MPI_Status *statuses, int i)
{
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

#endif
