/* SPDX-License-Identifier: BSD-3-Clause */
/* A seat: what one thread, or the threads that share its queue pairs, has of a plan (endpoint.h). ep_set.h builds a
 * plan from seats. zipperd's workers take one seat each as they come, and make queue pairs as connections come. Both
 * make their contexts, protection domains and thread domains here, and so the pages and uUARs of the account. Set-up;
 * one thread at a time per context. */
#ifndef ZIP_COMMON_ENDPOINT_EP_SEAT_H
#define ZIP_COMMON_ENDPOINT_EP_SEAT_H

#include "common/endpoint/endpoint.h"
#include "common/endpoint/ep_kept.h"

struct zep_context {
	void *ctx, *pd;	 /* pd: the newest one of the context */
	unsigned tds;	 /* thread domains made in it so far */
	bool no_domains; /* it can have no thread domains, though the plan wants them */
};

struct zep_seat {
	void *ctx, *pd;
	void *domain; /* queue pairs are made in it: the PD itself, or a parent domain of the PD */
	void *unused; /* likewise, for queue pairs that nobody uses, where the plan has twice as many */
	bool single;  /* its completion queues need no lock */
};

/* Functions return 0 or a negative errno with text. Objects that they made are kept in any case, for
 * zep_kept_drop_all(). */

/* Opens a context with a PD; adds one more PD. */
int zep_seat_open_context(struct zep_context *, struct zep_kept *, struct zerr *);
int zep_seat_add_pd(struct zep_context *, struct zep_kept *, struct zerr *);
/* Takes the next seat in a context, on this PD of it. Where thread domains are refused (not supported, or used up) the
 * context has none from then on, and the seat is as in the category static. */
int zep_seat_open(struct zep_seat *, const struct zep_plan *, struct zep_context *, void *pd, struct zep_kept *,
	struct zerr *);
/* Takes a seat for a thread that others may follow: in the common context, or, in a category without a common context,
 * in one of its own. mpi+threads is static with locks here, as a queue pair belongs to a connection. The queue pairs
 * and completion queues that 2xdynamic does not use are not made, as the page beside the used one comes from the thread
 * domains. */
int zep_seat_join(struct zep_seat *, enum zep_category, struct zep_context *common, struct zep_kept *, struct zerr *);

#endif
