/* SPDX-License-Identifier: BSD-3-Clause */
/* What was made through a table of operations, in the order of making, so that it can be counted and destroyed: all of
 * an endpoint's objects, whether they are built at once (endpoint.h) or as threads come (seat.h). One thread. */
#ifndef ZIP_COMMON_VERBS_KEPT_H
#define ZIP_COMMON_VERBS_KEPT_H

#include "common/endpoint/endpoint.h"

/* Takes an object that the backend made. -ENOMEM with text: it is destroyed. */
int zep_keep(struct zep_kept *, enum zep_kind, void *object, struct zerr *);
/* Destroys the last ones of a kind until n of it are left; and everything, children first. */
void zep_drop(struct zep_kept *, enum zep_kind, size_t n);
void zep_drop_all(struct zep_kept *);

#endif
