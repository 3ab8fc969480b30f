/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoint categories for those whose threads come one by one, and make queue pairs as connections come: zipperd's
 * workers. A seat is what one thread has. Where the category shares a context, it is that of the device. Set-up; one
 * thread at a time per device. As each connection has queue pairs of its own here, mpi+threads differs from static only
 * in completion queues with locks, and 2xdynamic from dynamic in the unused page beside each one that is used.
 */
#ifndef ZIP_COMMON_VERBS_SEAT_H
#define ZIP_COMMON_VERBS_SEAT_H

#include "endpoint.h"

#define ZEP_SEAT_TDS 4

struct zep_common { /* of a device, shared by its seats; beginning with ctx and pd alone */
	void *ctx, *pd;
	unsigned tds;	 /* made so far */
	bool no_domains; /* wanted and not to be had */
};

struct zep_seat {
	void *ctx, *pd; /* its own, or the common ones */
	void *domain;	/* to make queue pairs in */
	bool single;	/* completion queues may be made without a lock, as only this thread uses them */
	bool own;	/* ctx and pd */
	unsigned ntds;
	void *td[ZEP_SEAT_TDS];
};

/* 0, or a negative errno with text and nothing left behind. Without thread domains the seat is as in static. */
int zep_seat_open(struct zep_seat *, enum zep_category, struct zep_common *, const struct zep_ops *, void *to,
	struct zerr *);
/* Its queue pairs must be gone. */
void zep_seat_close(struct zep_seat *, const struct zep_ops *, void *to);

#endif
