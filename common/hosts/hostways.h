/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which zippers of a hostfile carry a job, and how its ranks reach each of them. Where some join all clusters of the
 * job it is those, in the order of the file, and every rank is on a network of each. Else the zippers and the fabrics
 * are a graph, and all zippers between its clusters carry the job: a rank reaches those that are on no network of its
 * own by hops over others, as few as there can be. Start-up only; any thread; the same in whoever reads the same file.
 */
#ifndef ZIP_COMMON_HOSTS_HOSTWAYS_H
#define ZIP_COMMON_HOSTS_HOSTWAYS_H

#include "common/hosts/hops.h"
#include "common/hosts/hostfile.h"

struct zhostway {	   /* of the ranks of a part to a zipper */
	const char *entry; /* the fabric by which they come there; the hostfile's */
	int n;		   /* hops */
	struct {
		int zipper; /* index of the one that connects for them */
		const char *from, *to;
	} hop[ZCTL_HOPS_MAX];
};

struct zhostways {
	int nzippers; /* rails */
	int zipper[ZCTL_RAILS_MAX];
	uint64_t ports[ZCTL_RAILS_MAX]; /* where hops are needed: a bit for each port of that zipper that is of use */
	bool hops;			/* some are needed */
	struct zhostway *way;		/* [nzippers * nparts], zipper after zipper */
	int nparts;
};

/* parts: names of the clusters of the job. max: of zippers that join all; where hops are needed all are. left_out: a
 * bit each of hosts->zippers that are not to be used (NULL: none). 0 or a negative errno with text: -ENOENT: a part is
 * no cluster; -ENETUNREACH: no way joins them; -E2BIG: it takes too many zippers, hops or
 * fabrics of one zipper. What is found points into hosts. On success free with
 * zhostways_free. */
int zhostways_find(struct zhostways *, const struct zhostfile *hosts, char (*parts)[ZCTL_NAME_MAX + 1], int nparts,
	int max, const bool *left_out, struct zerr *);
void zhostways_free(struct zhostways *);
static inline const struct zhostway *zhostways_at(const struct zhostways *w, int rail, int part)
{
	return &w->way[rail * w->nparts + part];
}
/* What JOIN and CREATE call entries, of that rail; "" where no hops are needed. buf has room for ZCTL_ENTRIES_MAX.
 * -EMSGSIZE with text: it does not fit. */
int zhostways_entries(const struct zhostways *, int rail, char *buf, struct zerr *);
/* The way as addresses. Those of zippers' ports come from addr, which asks for one of hosts->zippers[zipper]. */
void zhostways_hops(const struct zhostways *, int rail, int part, struct zhops *,
	const struct zaddr *(*addr)(const void *ctx, int zipper, const char *fabric), const void *ctx);

#endif
