/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one thread has of a plan (endpoint.h), or those who share its queue pairs: the seat. The builder makes a plan of
 * seats, and zipperd's workers, who come one by one and make queue pairs as connections come, take one each: contexts,
 * protection domains and thread domains of both, and so the pages and uUARs of the account, are made here. Set-up; one
 * thread at a time per context.
 */
#ifndef ZIP_COMMON_ENDPOINT_EP_SEAT_H
#define ZIP_COMMON_ENDPOINT_EP_SEAT_H

#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_kept.h"

struct zep_context {
	void *ctx, *pd;	 /* pd: the last one of it */
	unsigned tds;	 /* made in it so far */
	bool no_domains; /* wanted and not to be had */
};

struct zep_seat {
	void *ctx, *pd;
	void *domain; /* to make queue pairs in: the PD itself, or a parent domain of it */
	void *unused; /* likewise, for those that nobody uses: where the plan has twice as many */
	bool single;  /* its completion queues need no lock */
};

/* Functions return 0 or a negative errno with text; what they made is kept in any case, for zep_kept_drop_all(). */

/* A context with a PD; and one more PD. */
int zep_seat_open_context(struct zep_context *, struct zep_kept *, struct zerr *);
int zep_seat_add_pd(struct zep_context *, struct zep_kept *, struct zerr *);
/* The next seat in a context, on this PD of it. Where thread domains are refused (not supported, or used up) the
 * context is without from then on, and the seat as in static. */
int zep_seat_open(struct zep_seat *, const struct zep_plan *, struct zep_context *, void *pd, struct zep_kept *,
	struct zerr *);
/* For a thread that others may come after: in the common context, or where the category has none in one of its own.
 * mpi+threads is static with locks here, since a queue pair belongs to a connection; and the queue pairs and completion
 * queues that 2xdynamic does not use are not made, as the page beside the used one comes from the thread domains. */
int zep_seat_join(struct zep_seat *, enum zep_category, struct zep_context *common, struct zep_kept *, struct zerr *);

#endif
