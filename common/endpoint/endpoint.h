/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scalable endpoints: the Verbs resources of the threads of one process (contexts, protection domains, thread domains,
 * memory regions, completion queues, queue pairs). A plan says how the threads share them. Six plans have names: the
 * endpoint categories of R. Zambre, A. Chandramowlishwaran, P. Balaji, "Scalable Communication Endpoints for
 * MPI+Threads Applications", section VI. Section V of that paper varies the sharing of one kind of resource at a time.
 *
 * The code that builds endpoints (ep_set.h, ep_seat.h) knows no library: it works on a table of operations. ep_ibv.h
 * has the table of libibverbs; uarmodel.h has a model of an mlx5 device. So the code that builds real endpoints also
 * predicts their account (account.h).
 *
 * Threads: one thread builds and destroys. Afterwards each thread uses what zep_set_qp() and the other functions name
 * for it; the provider locks what threads share.
 */
#ifndef ZIP_COMMON_ENDPOINT_ENDPOINT_H
#define ZIP_COMMON_ENDPOINT_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

enum zep_category {
	ZEP_MPI_EVERYWHERE, /* a context for each thread */
	ZEP_2XDYNAMIC,	    /* one context; each thread a UAR page of its own, and an unused one beside it */
	ZEP_DYNAMIC,	    /* one context; each thread a UAR page of its own */
	ZEP_SHARED_DYNAMIC, /* one context; two threads on a UAR page, each with its own half (uUAR) */
	ZEP_STATIC,	    /* one context without thread domains: the provider spreads the queue pairs */
	ZEP_MPI_THREADS,    /* one queue pair for all */
	ZEP_CATEGORIES
};

enum zep_domain {
	ZEP_DOMAIN_NONE,   /* no thread domain: the context's static uUARs, with locks */
	ZEP_DOMAIN_PAIRED, /* a thread domain for each queue pair, in the order in which the provider makes them */
	ZEP_DOMAIN_ALONE, /* likewise, but each with a UAR page of its own: providers put two consecutive thread domains
			     on one page (mlx5), so every second one is left unused */
};

#define ZEP_THREADS_MAX 4096
#define ZEP_LINE_BYTES 64 /* buffers begin on cache lines of their own (paper, section V-A) */

/* "x_ways": the number of threads that share one x. 1: each thread has one; `threads`: all threads share one. */
struct zep_plan {
	unsigned threads;
	unsigned paths;	  /* queue pairs of each thread */
	unsigned regions; /* buffers, with a memory region each, of each thread */
	unsigned ctx_ways, pd_ways, mr_ways, cq_ways, qp_ways, buf_ways;
	enum zep_domain domain;
	bool twice; /* twice the queue pairs (and domains), every second one unused: "2xQPs", section V-B */
	size_t buf_bytes;
	unsigned send_depth, recv_depth, cq_depth, inline_bytes;
};

enum zep_kind { ZEP_CTX, ZEP_PD, ZEP_TD, ZEP_PARENT, ZEP_MR, ZEP_CQ, ZEP_QP, ZEP_KINDS };

/* Where the doorbells of a queue pair go. The numbers only tell same from different. */
struct zep_place {
	uint64_t page, uuar;
};

/* `to` is the backend's own; objects are handles of the backend. Everything returns 0 or a negative errno with text.
 * -EOPNOTSUPP from alloc_td, alloc_parent, and create_cq with single: the provider has no such thing. */
struct zep_ops {
	int (*open_ctx)(void *to, void **ctx, struct zerr *);
	int (*alloc_pd)(void *to, void *ctx, void **pd, struct zerr *);
	int (*alloc_td)(void *to, void *ctx, void **td, struct zerr *);
	int (*alloc_parent)(void *to, void *ctx, void *pd, void *td, void **parent, struct zerr *);
	int (*reg_mr)(void *to, void *pd, void *addr, size_t len, void **mr, struct zerr *);
	/* single: only one thread at a time will ever use it */
	int (*create_cq)(void *to, void *ctx, unsigned depth, bool single, void **cq, struct zerr *);
	int (*create_qp)(void *to, void *pd, void *cq, const struct zep_plan *, void **qp, struct zerr *);
	void (*destroy)(void *to, enum zep_kind, void *object);

	/* For the account. -EOPNOTSUPP: the device does not tell. */
	int (*locate)(void *to, void *qp, struct zep_place *);
	int (*allocated)(void *to, uint64_t *pages, uint64_t *uuars); /* of all contexts, used or not */
	int (*bytes)(void *to, uint64_t *bytes);		      /* memory of all objects */
};

/* Do completion queues belong to one thread each, and so need no lock? */
static inline bool zep_is_single(const struct zep_plan *p)
{
	return p->cq_ways == 1;
}

#endif
