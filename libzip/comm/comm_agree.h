/* SPDX-License-Identifier: BSD-3-Clause */
/* How the members of a parent communicator agree on a new one. Under the shim's lock. */
#ifndef ZIP_LIBZIP_COMM_AGREE_H
#define ZIP_LIBZIP_COMM_AGREE_H

#include <mpi.h>
#include <stdint.h>

#include "libzip/coll/base/coll.h"

/* The numbers that every member of the parent says about the new communicator. ID: its proposal, made by zcomm_new_id.
 * ORDERS: for a topology with several edges between two ranks its ztopo_order_all, else 0. */
enum { ZSAID_COLOR, ZSAID_KEY, ZSAID_ID, ZSAID_ORDERS, ZSAID_COUNT };

/* Hears from all n members. across is NULL on an intracommunicator, else it says how. *all, which is to be freed, has
 * the numbers by rank. MPI_SUCCESS, or an error code that has been raised; then *all is not allocated. */
int zcomm_agree_hear(struct zcomm *, const char *name, const struct zcoll_across *across, int n,
	const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT]);
/* Selects those of n members (whose vranks are `of`) that said color. vrank gets their vranks in their new order: by
 * key, then by rank. *id is the proposal of the first of them in the new order, so different colors have different ids.
 * Returns their number, or -1 without memory. */
int zcomm_agree_select(const int64_t (*said)[ZSAID_COUNT], const int *of, int n, int64_t color, int *vrank,
	int64_t *id);

#endif
