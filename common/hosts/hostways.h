/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which zippers of a hostfile carry a job, and how its ranks reach each of them. If some zippers join all clusters of
 * the job, these carry it, in the order of the file, and every rank is on a network of each of them. Otherwise the
 * zippers and the fabrics are a graph, and all zippers between the clusters carry the job. A rank then reaches a zipper
 * that is on no network of its own by hops over other zippers, as few as possible. Start-up only; any thread. The
 * result is the same in all processes that read the same file.
 */
#ifndef ZIP_COMMON_HOSTS_HOSTWAYS_H
#define ZIP_COMMON_HOSTS_HOSTWAYS_H

#include "common/hosts/hops.h"
#include "common/hosts/hostfile.h"

struct zhostway {	   /* of the ranks of a part to a zipper */
	const char *entry; /* the fabric by which they come there; text of the hostfile */
	int n;		   /* number of hops */
	struct {
		int zipper; /* index of the zipper that connects for them */
		const char *from, *to;
	} hop[ZCTL_HOPS_MAX];
};

struct zhostways {
	int nzippers; /* number of rails */
	int zipper[ZCTL_RAILS_MAX];
	uint64_t ports[ZCTL_RAILS_MAX]; /* where hops are needed: a bit for each useful port of that zipper */
	bool hops;			/* some are needed */
	struct zhostway *way;		/* [nzippers * nparts], zipper after zipper */
	int nparts;
};

/*
 * Finds the ways. parts: names of the job's clusters. max: the largest number of zippers that join all clusters; where
 * hops are needed, all zippers between the clusters are taken. left_out: true for each of hosts->zippers that is not to
 * be used (NULL: none). Returns 0 or a negative errno with text: -ENOENT: a part is no cluster; -ENETUNREACH: no way
 * joins them; -E2BIG: too many zippers, hops or fabrics of one zipper. The result points into hosts. On success it is
 * to be freed with zhostways_free.
 */
int zhostways_find(struct zhostways *, const struct zhostfile *hosts, char (*parts)[ZCTL_NAME_MAX + 1], int nparts,
	int max, const bool *left_out, struct zerr *);
void zhostways_free(struct zhostways *);
static inline const struct zhostway *zhostways_at(const struct zhostways *w, int rail, int part)
{
	return &w->way[rail * w->nparts + part];
}
/* Writes the entries of that rail for JOIN and CREATE (ctl.h); "" where no hops are needed. buf has room for
 * ZCTL_ENTRIES_MAX. -EMSGSIZE with text: they do not fit. */
int zhostways_entries(const struct zhostways *, int rail, char *buf, struct zerr *);
/* Gives a way as addresses. addr gives the address of hosts->zippers[zipper] on a fabric. */
void zhostways_hops(const struct zhostways *, int rail, int part, struct zhops *,
	const struct zaddr *(*addr)(const void *ctx, int zipper, const char *fabric), const void *ctx);

#endif
